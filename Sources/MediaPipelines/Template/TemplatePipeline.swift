package import GStreamerKit
package import PipelineTemplates

/// A pipeline and the template that it was made of, so that its errors can name a line.
package struct TemplatePipeline: Sendable {
  /// Not started before `start()`.
  package let pipeline: Pipeline
  /// What the pipeline was made of.
  package let template: FilledTemplate

  /// The appsrc of that name.
  package func source(_ name: String) throws(PipelineFailure) -> AppSource {
    do { return try pipeline.appSource(named: name) } catch { throw PipelineFailure(error, in: template) }
  }

  /// The appsink of that name.
  /// - Parameters:
  ///   - onBuffer: called on a streaming thread, in order.
  ///   - onEnd: called there behind the last one.
  ///   - onMark: called there for each mark, behind what was in front of it.
  @discardableResult
  package func sink(
    _ name: String, onBuffer: @escaping @Sendable (MediaBuffer) -> Void, onEnd: @escaping @Sendable () -> Void = {},
    onMark: @escaping @Sendable () -> Void = {}
  ) throws(PipelineFailure) -> AppSink {
    do { return try pipeline.appSink(named: name, onBuffer: onBuffer, onEnd: onEnd, onMark: onMark) } catch {
      throw PipelineFailure(error, in: template)
    }
  }

  package func onKeyframeRequest(atSource name: String, _ handler: @escaping @Sendable () -> Void)
    throws(PipelineFailure)
  {
    do { try pipeline.onKeyframeRequest(atSourceNamed: name, handler) } catch {
      throw PipelineFailure(error, in: template)
    }
  }

  /// Puts a parser behind a source, so that it takes other stream formats too.
  package func insert(_ parser: String, behind source: AppSource) throws(PipelineFailure) {
    do { try pipeline.insert(parser, behind: source) } catch { throw PipelineFailure(error, in: template) }
  }

  package func removeBranch(from name: String) throws(PipelineFailure) {
    do { try pipeline.removeBranch(from: name) } catch { throw PipelineFailure(error, in: template) }
  }

  /// Starts the pipeline.
  package func start() throws(PipelineFailure) {
    do { try pipeline.start() } catch { throw PipelineFailure(error, in: template) }
  }

  /// Calls `handler` for each error while the pipeline runs.
  package func onFailure(_ handler: @escaping @Sendable (PipelineFailure) -> Void) {
    let template = template
    pipeline.onMessage { message in
      if case .error(let error) = message { handler(PipelineFailure(error, in: template)) }
    }
  }
}

extension FilledTemplate {
  /// The file and line of a byte offset in the description.
  package func location(atOffset offset: Int) -> SourceLocation? {
    SourceLocation(file: file, line: line(atOffset: offset))
  }
}
