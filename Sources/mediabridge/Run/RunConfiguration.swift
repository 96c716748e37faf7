import Egress
import MediaBridge

/// What a file asks for: rooms, and jobs in them.
struct RunConfiguration {
  var rooms: [RunRoom] = []
  var jobs: [RunJob] = []
  /// The folder that pipelines are drawn into.
  var dot: String?

  func room(of job: RunJob) -> RunRoom? { rooms.first { $0.name == job.room } }

  /// The files besides it that it is made of.
  var files: [String] { jobs.compactMap(\.layoutFile) }
}

/// A room that jobs share.
struct RunRoom {
  let name: String
  let access: RoomArguments
  /// For the templates that receive.
  let receiveValues: [String: String]
  /// As it stands in the file.
  let given: RunReader.Given
  /// Whether it is joined with the right to send messages, since a job has some; a given token has its own rights.
  var sendsMessages = false

  /// Every job subscribes to what it needs, as large as it needs it; one that records asks for all of it.
  var options: RoomOptions {
    access.roomOptions(autoSubscribe: false, adaptiveStream: true, receiveValues: receiveValues)
  }
}
