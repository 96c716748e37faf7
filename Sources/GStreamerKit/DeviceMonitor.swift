import CGStreamer
import CShims

/// A device of this machine from which media comes.
public struct Device: Sendable, Hashable {
  /// Such as `Video/Source` or `Audio/Source`.
  public var classes: String
  /// As people know it.
  public var name: String
  /// The element that opens it, such as `v4l2src`.
  public var element: String
  /// What that element's property `device` is for it; nil where the element has none.
  public var device: String?
  /// Whether it is what a loudspeaker plays.
  public var isMonitor: Bool
}

/// Finds devices.
public enum DeviceMonitor {
  /// The cameras and microphones of this machine, with what loudspeakers play. May wait for a sound server.
  public static func sources() throws(PipelineError) -> [Device] {
    try GStreamer.initialize()
    guard let monitor = gst_device_monitor_new() else { return [] }
    defer { gst_object_unref(monitor) }
    for classes in ["Video/Source", "Audio/Source"] { gst_device_monitor_add_filter(monitor, classes, nil) }
    guard gst_device_monitor_start(monitor) != 0 else { return [] }
    defer { gst_device_monitor_stop(monitor) }
    let list = gst_device_monitor_get_devices(monitor)
    defer { g_list_free(list) }
    var (found, item): ([Device], UnsafeMutablePointer<GList>?) = ([], list)
    while let current = item {
      if let device = current.pointee.data?.assumingMemoryBound(to: GstDevice.self) {
        if let known = Device(device) { found.append(known) }
        gst_object_unref(device)
      }
      item = current.pointee.next
    }
    return found
  }
}

extension Device {
  /// Nil for one that no element opens.
  fileprivate init?(_ pointer: UnsafeMutablePointer<GstDevice>) {
    guard let made = gst_device_create_element(pointer, nil) else { return nil }
    gst_object_ref_sink(made)
    let element = Element(shared: SharedElement(adopting: made), name: "device")
    (self.element, device) = (element.factory, element.string("device"))
    name = take(gst_device_get_display_name(pointer)) ?? ""
    classes = take(gst_device_get_device_class(pointer)) ?? ""
    let properties = gst_device_get_properties(pointer)
    defer { if let properties { gst_structure_free(properties) } }
    let said = properties.flatMap { gst_structure_get_string($0, "device.class") }.map { String(cString: $0) }
    isMonitor = said == "monitor"
  }
}
