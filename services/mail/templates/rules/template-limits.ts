/** Limits of templates, in characters unless the name says otherwise. All of them bound work, memory or documents. */
export const TEMPLATE_LIMITS = {
  /** Templates of one account. */
  templates: 500,
  /** Published versions that are kept; older ones are removed by the next publication. */
  versions: 100,
  name: 64,
  subject: 998,
  htmlBytes: 512 * 1024,
  textBytes: 512 * 1024,
  variables: 100,
  /** Tags and outputs of one part. */
  tags: 5_000,
  /** One tag or output. */
  expression: 1_000,
  /** Tags and outputs that one rendering runs through, each as often as a loop repeats it. */
  steps: 50_000,
  /** What filters may allocate in one rendering. */
  memory: 4 * 1024 * 1024,
  /** Backstop in milliseconds; the other limits end a rendering earlier. */
  renderMs: 2_000,
  /** A rendered html or text part. */
  output: 1024 * 1024,
  /** Bytes of a text value, and characters of all values of one rendering together. */
  value: 64 * 1024,
  values: 256 * 1024,
  /** Entries of one list, and depth of lists and objects. */
  entries: 1_000,
  depth: 4,
} as const
