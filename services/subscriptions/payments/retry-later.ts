/** A notice that arrived too early. */

/** A record of the notice does not exist yet: the notice is processed again later. */
export class NotYet extends Error {}
