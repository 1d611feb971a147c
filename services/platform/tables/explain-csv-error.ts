/** Why a table cannot be read, for people. */
import { type Sentence, sentence } from '../sentences/sentence.ts'
import { type CsvError, ROW_LIMITS } from './rules/csv.ts'

const REASONS: Readonly<Record<CsvError['rule'], Sentence>> = {
  quote: sentence('field.quote'),
  row_cells: sentence('field.row_cells', { cells: ROW_LIMITS.cells }),
  row_length: sentence('field.row_length', { chars: ROW_LIMITS.chars }),
}

/** The rule that a row breaks, with its limit. The rest of the file cannot be read. */
export function explainCsvError({ rule }: Pick<CsvError, 'rule'>): Sentence {
  return REASONS[rule]
}
