/** Why a JSON document cannot be read. Octets are counted from 0. */

export const json = {
  'json.unexpected': '{found} at octet {at}, where {expected} is expected',
  'json.the_end': 'the end of the text',
  'json.a_value': 'a value',
  'json.a_value_or_end': 'a value or ]',
  'json.a_name': 'a name in double quotes',
  'json.a_name_or_end': 'a name in double quotes or }',
  'json.a_comma_or_end': 'a comma or a closing bracket',
  'json.end_of_string': 'the end of a string',
  'json.not_a_document': 'it must be an object or a list',
  'json.not_utf8': 'it has text that is not UTF-8',
  'json.not_utf8_near': 'text near octet {at} is not UTF-8',
  'json.control_character': 'a control character in a string at octet {at}',
  'json.escape': 'an unknown escape at octet {at}',
  'json.half_pair': 'a string has half of a surrogate pair',
  'json.half_pair_before': 'half of a surrogate pair before octet {at}',
  'json.name_forbidden': 'a member has the name {name}, which is not allowed',
  'json.number_too_long': 'a number or word of more than {count} characters at octet {at}',
  'json.cut': 'the connection ended before the body',
  'json.compression': 'it cannot be decompressed',
  // What a document has too much of
  'json.levels': 'more than {count} levels (octet {at})',
  'json.values': 'more than {count} values',
  'json.members': 'an object with more than {count} members',
  'json.name_too_long': 'a name of more than {count} characters (octet {at})',
} as const
