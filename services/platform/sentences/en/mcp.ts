/** What the address of the Model Context Protocol refuses by itself. */

export const mcp = {
  'mcp.token_needed': 'Authorization must be "Bearer <token>" with a token that has the scope mcp.',
  'mcp.origin': 'A page of another origin must not call this address; the origin is {origin}.',
  'mcp.no_batch': 'A request has one message, not a batch.',
} as const
