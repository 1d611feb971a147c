/** Keeps a resource from vanishing before its records are undone. */
export const FINALIZER = 'postwright.dev/cleanup'
