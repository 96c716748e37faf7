public import PipelineTemplates

/// File names that are made of what strangers call themselves, and that cannot leave their folder.
public typealias FileNameTemplate = PipelineTemplates.FileNameTemplate
