import Testing

@testable import PipelineTemplates

/// What the commands that show and change templates are made of.
@Suite struct ProductTests {
  @Test func everyShippedVariableHasAUnit() throws {
    for (name, text) in BuiltInTemplates.texts {
      let parts = name.split(separator: "/").map(String.init)
      let kind = try #require(TemplateKind(rawValue: parts[0]))
      let template = try Template(kind: kind, name: parts[1], file: name, text: text)
      #expect(template.variables.filter { $0.unit == nil }.map(\.name) == [], "\(name): say it in a `# Units:` line")
      #expect(template.unitsOfNoVariable == [], "\(name)")
    }
  }

  @Test func unitsStandInComments() throws {
    let text =
      "# Title\n#  Units: a kbit/s,  b 0 to  9\nx264enc\n# Units: c ms\n! filesink a=${a:-1} b=${b} c=${c} d=${d}"
    let template = try Template(kind: .output, name: "t", file: "t", text: text)
    #expect(template.variables.map(\.unit) == ["kbit/s", "0 to 9", "ms", nil])
    #expect(template.summary == "Title")
  }

  @Test(arguments: TemplateKind.allCases) func aDraftKeepsTheContract(_ kind: TemplateKind) throws {
    let text = TemplateDraft.text(of: kind)
    let template = try Template(kind: kind, name: "mine", file: "mine", text: text)
    #expect(!template.summary.isEmpty && template.variables.allSatisfy { $0.unit != nil })
    let values = template.variables.contains { $0.name == "location" } ? ["location": "a"] : [:]
    #expect(try template.fill(values).contractViolation == nil)
    #expect(!text.split(separator: "\n").contains { $0.hasSuffix(" ") })
  }

  @Test func aDifferenceIsWrittenAsDiffDoes() {
    let old = (1...12).map { "line \($0)" }.joined(separator: "\n") + "\n"
    let new = old.replacing("line 2\n", with: "line two\n").replacing("line 11\n", with: "")
    #expect(
      UnifiedDiff(from: old, to: new, oldName: "a", newName: "b").description == """
        --- a
        +++ b
        @@ -1,5 +1,5 @@
         line 1
        -line 2
        +line two
         line 3
         line 4
         line 5
        @@ -8,5 +8,4 @@
         line 8
         line 9
         line 10
        -line 11
         line 12

        """)
    #expect(UnifiedDiff(from: old, to: old, oldName: "a", newName: "b").description.isEmpty)
    #expect(UnifiedDiff(from: "", to: "x\n", oldName: "a", newName: "b").description.contains("@@ -0,0 +1,1 @@\n+x\n"))
  }

  @Test func aHardwareElementIsToldAsOne() {
    #expect(ElementPackage.isHardware("vah264enc") && ElementPackage.isHardware("nvh264dec"))
    #expect(ElementPackage.isHardware("v4l2vp8dec") && !ElementPackage.isHardware("v4l2src"))
    #expect(!ElementPackage.isHardware("x264enc") && !ElementPackage.isHardware("valve"))
    #expect(ElementPackage.isOptional("faceblur") && !ElementPackage.isOptional("textoverlay"))
    let advice = ElementPackage.advice(forElement: "vah264enc")
    #expect(advice.contains("gstreamer1.0-plugins-bad") && advice.contains("VA-API"))
    #expect(ElementPackage.advice(forElement: "v4l2h264enc").contains("gstreamer1.0-plugins-good"))
  }

  @Test func oneIsFoundAmongOnesOwnFoldersFirst() {
    let folders: [TemplateSearchPath.Folder] = [
      .init(path: "/u", source: .user), .init(path: "/i", source: .installed), .builtIn,
    ]
    #expect(TemplateSearchPath(folders: folders).own?.path == "/u")
    #expect(TemplateSearchPath(folders: [.init(path: "/e", source: .explicit)] + folders).own?.path == "/e")
    #expect(TemplateSearchPath(folders: [.builtIn]).own == nil)
    #expect(TemplateSearchPath(folders: folders).shipped.folders.map(\.path) == ["/i", "(inside the program)"])
  }
}
