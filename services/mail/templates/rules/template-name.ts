/** Names of templates. A name takes the place of the id in paths, so it looks like neither an id nor another path. */

/** Form of a name. */
export const TEMPLATE_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/
/** Names of this form that mean something else in a path. */
export const RESERVED_NAME = /^(?:tpl_|preview$)/

/** Whether a template may have this name. */
export function isTemplateName(name: string): boolean {
  return TEMPLATE_NAME.test(name) && !RESERVED_NAME.test(name)
}
