import MediaCore
import Testing

@testable import RTP

@Suite("Asking by a round trip that is told")
struct RoundTripTests {
  private static let ways = [2.0, 20, 40, 90, 150, 250, 400]

  @Test(arguments: ways) func liveKitsServerSendsEachLostPacketOnceMore(way: Double) {
    var course = Course(.liveKit, way: way)
    course.run(until: 20_000)
    let losses = course.losses(2000..<19_000)
    #expect(losses.allSatisfy { $0.answers == 1 })
    // The server may pass over the first request, as it has just sent the packet; it answers the second.
    #expect(losses.allSatisfy { $0.wait.map { $0 <= 2.2 * way + 20 } == true }, "\(losses)")
    #expect(course.repairTime <= 10 + 3 * (2.2 * way + 20))
    #expect(course.givenUp.isEmpty)
  }

  @Test(arguments: ways) func aServerThatAnswersAtOnceDoesSoOnce(way: Double) {
    var course = Course(.atOnce, way: way)
    course.run(until: 20_000)
    let losses = course.losses(2000..<19_000)
    #expect(losses.allSatisfy { $0.answers == 1 && $0.wait.map { $0 <= way + 11 } == true }, "\(losses)")
  }

  @Test(arguments: [Course.Server.liveKit, .atOnce], [20.0, 90])
  func aWayThatGrowsIsFollowed(server: Course.Server, way: Double) {
    var course = Course(server, way: way)
    course.run(until: 8000)
    course.way = 400
    course.run(until: 20_000)
    // Not even of what was asked for before the new one was told.
    #expect(course.givenUp.isEmpty, "\(course.givenUp)")
    let losses = course.losses(10_500..<19_000)
    #expect(losses.allSatisfy { $0.answers == 1 && $0.wait.map { $0 <= 411 } == true }, "\(losses)")
  }

  /// An answer that takes longer than it takes to give up tells nothing.
  @Test func aWayThatGrowsByMuchIsFollowedOnceItIsTold() {
    var course = Course(.liveKit, way: 20)
    course.run(until: 8000)
    course.way = 600
    course.run(until: 20_000)
    #expect(course.givenUp.allSatisfy { (8000..<10_000).contains($0) }, "\(course.givenUp)")
    #expect(course.losses(10_500..<19_000).allSatisfy { $0.answers == 1 && $0.wait != nil })
  }

  @Test func aWayThatShrinksIsFollowed() {
    var course = Course(.liveKit, way: 400)
    course.run(until: 8000)
    course.way = 20
    course.run(until: 20_000)
    #expect(course.losses(15_000..<19_000).allSatisfy { $0.answers == 1 && $0.wait.map { $0 <= 65 } == true })
    #expect(course.givenUp.isEmpty)
  }

  @Test func whatIsWaitedForIsAskedForAgainSoonerOnAShorterWay() {
    var generator = NACKGenerator()
    _ = generator.noteGap(5..<6, at: .ms(0))
    #expect(generator.poll(highest: 9, at: .ms(0)).requests.count == 1)
    #expect(generator.nextDeadline(highest: 9) == .ms(105))
    generator.note(roundTrip: .milliseconds(10))
    #expect(generator.nextDeadline(highest: 9) == .ms(20))
    generator.note(roundTrip: .milliseconds(100))
    #expect(generator.nextDeadline(highest: 9) == .ms(125))
    generator.note(roundTrip: .milliseconds(20))
    #expect(generator.nextDeadline(highest: 9) == .ms(77))
  }
}

/// A packet each 5 ms, of which each 20th is lost, with a server that sends them again; the round trip is told once a second,
/// as it was a second before. Times are in milliseconds.
struct Course {
  enum Server {
    /// pkg/sfu/sequencer.go of 1.13: again only after two round trips, or 100 ms, at most three times. Reports tell it the
    /// round trip.
    case liveKit
    case atOnce
  }

  struct Loss {
    let number: Int64
    /// When the server sent it last.
    var sent: Double
    var answers = 0
    /// From its gap to its coming.
    var wait: Double?
  }

  var way: Double
  private(set) var givenUp: [Double] = []
  private let server: Server
  private var generator = NACKGenerator()
  private var time = 0.0
  private var measured: Double?
  /// Each stands for the number that is twenty times its index.
  private var lost: [Loss] = []
  private var coming: [(number: Int64, due: Double)] = []

  init(_ server: Server, way: Double) { (self.server, self.way) = (server, way) }

  var repairTime: Double { generator.repairTime.map { $0.seconds * 1000 } ?? .infinity }

  /// Those of that time.
  func losses(_ span: Range<Double>) -> [Loss] { lost.filter { span.contains(Double($0.number) * 5) } }

  mutating func run(until end: Double) {
    while time < end {
      step()
      time += 1
    }
  }

  private mutating func step() {
    let highest = Int64(time / 5)
    if time.truncatingRemainder(dividingBy: 1000) == 0 { tell() }
    if time.truncatingRemainder(dividingBy: 100) == 0 {
      _ = generator.noteGap(highest..<highest + 1, at: .ms(time))
      lost.append(Loss(number: highest, sent: time - way / 2))
    }
    let (requests, newest) = generator.poll(highest: highest, at: .ms(time))
    if newest != nil { givenUp.append(time) }
    for request in requests { ask(for: Int64(request.rawValue), at: time + way / 2) }
    for (number, due) in coming where due == time {
      lost[Int(number) / 20].wait = lost[Int(number) / 20].wait ?? time - Double(number) * 5
      generator.noteArrival(number, highest: highest, isRetransmission: true, at: .ms(time))
    }
    coming.removeAll { $0.due <= time }
  }

  private mutating func tell() {
    if let measured { generator.note(roundTrip: .milliseconds(Int(measured))) }
    measured = way
  }

  private mutating func ask(for number: Int64, at arrival: Double) {
    let index = Int(number) / 20
    guard lost[index].answers < 3, arrival - lost[index].sent > pause else { return }
    lost[index].answers += 1
    lost[index].sent = arrival
    coming.append((number, arrival + way / 2))
  }

  private var pause: Double {
    switch server {
    case .liveKit: min(100, 2 * (time < 1000 ? 70 : way))
    case .atOnce: 0
    }
  }
}
