import Testing

@testable import Egress

/// Frames in a memory that several read.
@Suite struct SharedPlacesTests {
  @Test func whoGivesNothingBackTakesNothingFromTheOthers() throws {
    var places = SharedPlaces(size: 1000, limit: 1_000_000)
    for _ in 0..<1000 {
      let place = try #require(places.free)
      if places.hasRoom(for: 1) { places.give(place, to: 1) }
      #expect(places.hasRoom(for: 2))
      places.give(place, to: 2)
      let isTakenBack = places.takeBack(place, from: 2)
      #expect(isTakenBack)
    }
    #expect(!places.hasRoom(for: 1))
  }

  @Test func aFrameIsKeptUntilTheLastHasReadIt() {
    var places = SharedPlaces(size: 1000, limit: 1_000_000)
    places.give(0, to: 1)
    places.give(0, to: 2)
    let isTakenBack = places.takeBack(0, from: 1)
    #expect(isTakenBack && places.free == 1)
    places.remove(2)
    #expect(places.free == 0)
  }

  @Test func whatWasNotGivenIsNotTakenBack() {
    var places = SharedPlaces(size: 1000, limit: 1_000_000)
    places.give(0, to: 1)
    for (place, reader) in [(0, 2), (1, 1), (-1, 1), (1 << 40, 1)] {
      let isTakenBack = places.takeBack(place, from: reader)
      #expect(!isTakenBack)
    }
    #expect(places.free == 1)
  }

  @Test(arguments: [1000, 1_400_000, 25_000_000, 100_000_000])
  func thereIsRoomForAllReaders(size: Int) throws {
    var places = SharedPlaces(size: size, limit: 256_000_000)
    for reader in 0..<SharedPlaces.mostReaders {
      var held = 0
      while places.hasRoom(for: reader) {
        places.give(try #require(places.free), to: reader)
        held += 1
      }
      #expect(held >= 3)
    }
    #expect(places.free != nil)
  }
}
