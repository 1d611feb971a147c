/** A notice that came too early. */

/** Something that the notice is about is not there yet: it is tried again. */
export class NotYet extends Error {}
