/** What is wrong with a template, its variables or its values. */

export const templates = {
  'field.template_at': 'line {line}, column {column}: {reason}',
  'field.template_body': 'a template needs html or text',
  'field.template_name':
    'must have 1 to 64 lower-case letters, digits or . _ - and begin with a letter or digit; "preview" and names beginning with tpl_ are reserved',
  'field.template_key':
    'must have 1 to 64 letters, digits or _ and begin with a letter, and must not be a word of the template language',
  'field.template_tag': 'There is no tag "{name}". Use one of: {tags}.',
  'field.template_filter': 'There is no filter "{name}". Values are escaped without one. Use one of: {filters}.',
  'field.template_not_closed': 'Something is not closed ({text}). Add the closing tag or brackets.',
  'field.template_syntax':
    'This cannot be read as a template: {text}. Write {{ and {% as HTML entities if they are text.',
  'field.template_depth': 'Tags are nested too deeply. Put less inside of each other.',
  'field.template_tags': 'There are more than {limit} tags and outputs. Shorten the template.',
  'field.template_tag_length': 'A tag or output may have at most {limit} characters. Split it.',
  'field.template_character': 'The characters U+FDD0 and U+FDD1 are no text. Remove them.',
  'field.template_variable': 'The variable "{name}" is not declared. Add it to the variables, or correct its name.',
  'field.template_place':
    'A value cannot be used here, because it could not be escaped (a script, a style sheet, a comment, or the name of a tag or attribute). Put it into text or a quoted attribute.',
  'field.template_unquoted': 'A value in the attribute {name} needs quotes around the attribute.',
  'field.template_element':
    'A value cannot be used in an attribute of the element {name}. Write it out in the template.',
  'field.template_attribute': 'A value cannot be used in the attribute {name}. Write it out in the template.',
  'field.template_url': 'An address may not begin with "{scheme}:". Allowed are: {schemes}.',
  'field.template_style':
    'A value in a style may have letters, digits, blanks and # % . , - _ only. Write addresses and functions out in the template.',
  'field.template_list_output':
    'A list or an object cannot be output. Use a for loop, the filter join, or one of its fields.',
  'field.template_steps': 'Rendering needs more than {limit} steps. Use shorter lists or fewer loops inside of loops.',
  'field.template_memory': 'Rendering needs too much memory or time. Use fewer filters and loops.',
  'field.template_output': 'The result is longer than {limit} characters. Use shorter values or fewer repetitions.',
  'field.template_value_missing': 'is required by the template',
  'field.template_values': 'all values together may have at most {count} characters',
  'field.template_value_depth': 'may be nested {count} levels deep at most',
  'field.template_reference': 'needs either id or name',
  'field.template_with_body': 'cannot be given together with template; the template has it',
  'detail.no_template': 'There is no template with this id or name. List them with GET /api/v1/templates.',
  'detail.no_template_version':
    'Template {name} has no version {version}. List them with GET /api/v1/templates/{name}/versions.',
  'detail.template_unpublished': 'Template {name} is not published yet. Publish it, then send.',
  'detail.template_name_taken': 'There is a template {name} already.',
  'detail.templates_full': 'This account has {count} templates, which is the limit. Delete one first.',
  'detail.no_preview': 'There is no such preview any more. Preview the template again.',
  'detail.batch_rendered': 'The templates of this batch make more than {limit} bytes. Send it in smaller batches.',
} as const
