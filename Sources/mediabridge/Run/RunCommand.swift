import ArgumentParser
import Egress
import Foundation
import MediaBridge
import MediaCore

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run the jobs of a configuration file, in one room or several.",
    discussion: """
      The file is YAML: `rooms` by name, with the options that say which room, and `jobs` by name, each with its `room`, \
      with `destinations` and with the options of `record`. One of `kind: frames` or `kind: pcm` has a `destination` and the \
      options of `frames` or `pcm`; one of them may have standard output, which is `-`. Secrets stand in the environment: \
      api-secret: ${env:NAME}. A job that fails fails alone, and the exit status is 0 when all did what they were asked.

      While it runs, a file that is changed is read again, as it is at SIGHUP: jobs that stay the same go on untouched, \
      one that is there no more ends complete, and one that is changed ends and begins anew, as does one that had failed; \
      destinations of recordings come and go while they go on. The file of a layout is looked at as well, and lays out anew what runs. A file with a mistake changes \
      nothing. When its terminal is closed all jobs end complete (not below `nohup`).
      """)

  @Flag(help: "Say what is wrong with the files, or how many rooms and jobs they have, and join nothing")
  var check = false

  @Flag(help: "Say what each destination of each job is fed, and why, with the pipelines, and join nothing")
  var dryRun = false

  @Flag(help: "Print the JSON schema of the file, by which editors complete it")
  var schema = false

  @Flag(help: "JSON lines instead of text") var json = false

  @Flag(name: .shortAndLong, help: "Tell the steps of connecting on standard error") var verbose = false

  @Argument(help: "Such as room.yaml; several with --check", completion: .file(extensions: ["yaml", "yml"]))
  var file: [String] = []

  func validate() throws {
    if schema { return }
    guard !file.isEmpty else { throw ValidationError("give a configuration file, such as room.yaml") }
    guard file.count == 1 || check else { throw ValidationError("give one file; several are for --check") }
  }

  func run() async throws {
    if schema { return try Terminal.shared.copy(RunSchema.text()) }
    let console = Console(isJSON: json)
    ConsoleLog.start(isVerbose: verbose)
    let plain = try RunFile.defaults()
    let configurations = file.compactMap { read($0, plain, console) }
    guard configurations.count == file.count else { throw ExitCode.failure }
    if check || dryRun { return Terminal.shared.drain() }
    let media = try standardOutput(configurations[0], console)
    guard await RunWatcher(file: file[0], console: console, media: media).run(configurations[0]) else {
      throw ExitCode.failure
    }
  }

  /// - Returns: where the media goes of a job that has standard output; all that is told goes to standard error then.
  private func standardOutput(_ configuration: RunConfiguration, _ console: Console) throws -> Int32? {
    guard configuration.jobs.contains(where: { $0.raw?.usesStandardOutput == true }) else { return nil }
    do throws(LiveKitError) { return try StandardOutput.claim() } catch {
      console.fail(error)
      throw ExitCode.failure
    }
  }

  /// - Returns: nil where something is wrong, which is told.
  private func read(_ file: String, _ plain: RunFile.Plain, _ console: Console) -> RunConfiguration? {
    do {
      let configuration = try RunFile.read(file, plain: plain)
      if check { console.tell(configuration, of: file) }
      if dryRun { try console.tellFeeds(of: configuration) }
      return configuration
    } catch let mistakes as RunFile.Mistakes {
      console.tell(mistakes)
    } catch { console.fail(error) }
    return nil
  }
}

extension Console {
  /// Each mistake by its place, as compilers do, which editors follow.
  func tell(_ mistakes: RunFile.Mistakes) {
    for mistake in mistakes.all {
      var fields: [String: Any] = ["file": mistake.file, "message": mistake.message]
      (fields["line"], fields["column"]) = (mistake.place?.line, mistake.place?.column)
      event("mistake", fields)
      Terminal.shared.warn(PrintableText("\(mistake)"))
    }
  }

  func tell(_ configuration: RunConfiguration, of file: String) {
    let (rooms, jobs) = (configuration.rooms.count, configuration.jobs.count)
    say("\(file): \(rooms) \(rooms == 1 ? "room" : "rooms"), \(jobs) \(jobs == 1 ? "job" : "jobs")")
    event("checked", ["file": file, "rooms": rooms, "jobs": jobs])
  }

  /// What each destination is fed.
  func tellFeeds(of configuration: RunConfiguration) throws {
    for job in configuration.jobs {
      let console = Console(isJSON: isJSON, job: job.name)
      for feeds in try job.feeds() {
        console.say("\(feeds.location)")
        for line in feeds.lines { console.say("  \(line)") }
        for pipeline in feeds.pipelines { console.say("  \(pipeline.name): \(pipeline.text)") }
        let pipelines = feeds.pipelines.reduce(into: [:]) { $0[$1.name] = $1.text }
        console.event("feeds", ["file": feeds.location, "feeds": feeds.lines, "pipelines": pipelines])
      }
    }
  }
}
