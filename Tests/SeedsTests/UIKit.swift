import BridgeTesting
import Foundation
import MediaBridge
import MediaBridgeDesktop
import MediaCore

// As much of UIKit as the pages' examples name, so that they stand here as they are. A view is only what contains
// others: what is seen is the library's `VideoView`, which takes part in this as any view does.

/// What is known of a view. The room's queue changes it while a test reads it.
final class ViewState: Sendable {
  fileprivate struct Values {
    /// What it contains; and the views themselves, which nobody reaches through here, so that they live.
    var subviews: [(state: ViewState, view: Kept)] = []
    weak var superview: ViewState?
    var isWindow = false
    var frame = CGRect.zero
    var alpha = 1.0
    var isHidden = false
    var autoresizingMask: UIView.AutoresizingMask = []
    var translatesAutoresizingMask = true
    /// Which of its edges are those of which view; it keeps none.
    var pinned: [NSLayoutAnchor.Edge: ObjectIdentifier] = [:]
  }
  fileprivate let values = Locked(Values())

  var subviews: [ViewState] { values.withLock { $0.subviews.map(\.state) } }
  var superview: ViewState? { values.withLock { $0.superview } }
  var frame: CGRect { values.withLock { $0.frame } }
  var alpha: Double { values.withLock { $0.alpha } }
  var autoresizingMask: UIView.AutoresizingMask { values.withLock { $0.autoresizingMask } }
  var translatesAutoresizingMask: Bool { values.withLock { $0.translatesAutoresizingMask } }

  func isPinned(to view: ViewState) -> Bool {
    NSLayoutAnchor.Edge.allCases.allSatisfy { edge in values.withLock { $0.pinned[edge] } == ObjectIdentifier(view) }
  }

  /// Whether it is in a window.
  var isInWindow: Bool { values.withLock { $0.isWindow } || superview?.isInWindow ?? false }

  // MARK: States of views that have no place for one

  /// `@unchecked Sendable`: only keeps a reference, or loses it.
  fileprivate struct Kept: @unchecked Sendable { let view: AnyObject }
  private struct Known {
    weak var view: VideoView?
    let state: ViewState
  }
  private static let known = Locked<[Known]>([])

  static func of(_ view: VideoView) -> ViewState {
    known.withLock { known in
      known.removeAll { $0.view == nil }
      if let found = known.first(where: { $0.view === view }) { return found.state }
      known.append(Known(view: view, state: ViewState()))
      return known[known.count - 1].state
    }
  }
}

protocol AnyView: AnyObject {
  var state: ViewState { get }
}

extension VideoView: AnyView {
  var state: ViewState { ViewState.of(self) }
}

extension AnyView {
  var frame: CGRect {
    get { state.frame }
    set { state.values.withLock { $0.frame = newValue } }
  }
  var bounds: CGRect { CGRect(origin: .zero, size: frame.size) }
  var alpha: Double {
    get { state.alpha }
    set { state.values.withLock { $0.alpha = newValue } }
  }
  var autoresizingMask: UIView.AutoresizingMask {
    get { state.autoresizingMask }
    set { state.values.withLock { $0.autoresizingMask = newValue } }
  }
  var translatesAutoresizingMaskIntoConstraints: Bool {
    get { state.translatesAutoresizingMask }
    set { state.values.withLock { $0.translatesAutoresizingMask = newValue } }
  }

  func removeFromSuperview() {
    let superview = state.values.withLock { values in
      defer { values.superview = nil }
      return values.superview
    }
    // The last reference may end with that, outside the lock.
    _ = superview?.values.withLock { values in
      values.subviews.firstIndex { $0.state === state }.map { values.subviews.remove(at: $0) }
    }
  }

  var topAnchor: NSLayoutAnchor { NSLayoutAnchor(view: state, edge: .top) }
  var leadingAnchor: NSLayoutAnchor { NSLayoutAnchor(view: state, edge: .leading) }
  var trailingAnchor: NSLayoutAnchor { NSLayoutAnchor(view: state, edge: .trailing) }
  var bottomAnchor: NSLayoutAnchor { NSLayoutAnchor(view: state, edge: .bottom) }
}

class UIView: AnyView {
  struct AutoresizingMask: OptionSet, Sendable {
    let rawValue: Int
    static let flexibleWidth = AutoresizingMask(rawValue: 1)
    static let flexibleHeight = AutoresizingMask(rawValue: 2)
  }

  let state = ViewState()

  init(frame: CGRect = .zero) { state.values.withLock { $0.frame = frame } }

  var isHidden: Bool {
    get { state.values.withLock { $0.isHidden } }
    set { state.values.withLock { $0.isHidden = newValue } }
  }

  /// The window that it is in.
  var window: ViewState? { state.isInWindow ? state : nil }

  func addSubview(_ view: any AnyView) {
    view.removeFromSuperview()
    view.state.values.withLock { $0.superview = state }
    state.values.withLock { $0.subviews.append((view.state, ViewState.Kept(view: view))) }
  }
}

final class UIWindow: UIView {
  override init(frame: CGRect = .zero) {
    super.init(frame: frame)
    state.values.withLock { $0.isWindow = true }
  }
}

class UIViewController {
  private var loaded: UIView?

  /// Made when it is asked for first, which is when `viewDidLoad` is called.
  var view: UIView {
    if let loaded { return loaded }
    let view = UIView()
    loaded = view
    viewDidLoad()
    return view
  }

  func viewDidLoad() {}
}

struct NSLayoutAnchor {
  enum Edge: CaseIterable {
    case top, leading, trailing, bottom
  }

  fileprivate let view: ViewState
  fileprivate let edge: Edge

  func constraint(equalTo other: NSLayoutAnchor) -> NSLayoutConstraint {
    NSLayoutConstraint(anchor: self, other: other)
  }
}

struct NSLayoutConstraint {
  fileprivate let anchor: NSLayoutAnchor
  fileprivate let other: NSLayoutAnchor

  static func activate(_ constraints: [NSLayoutConstraint]) {
    for constraint in constraints where constraint.anchor.edge == constraint.other.edge {
      constraint.anchor.view.values.withLock {
        $0.pinned[constraint.anchor.edge] = ObjectIdentifier(constraint.other.view)
      }
    }
  }
}

struct UIImage {
  let pngData: Data
}

extension VideoFrame {
  func toUIImage() -> UIImage? { (try? pngData()).map(UIImage.init) }
}
