/**
 * The operations that the panel calls: method and path by the name that the contracts give them. Only the contracts'
 * types come into the browser, so their few words are repeated here; a test compares every line with the contract.
 */
export const operations = {
  logInOperation: 'POST /api/v1/session',
  getSession: 'GET /api/v1/session',
  logOutOperation: 'DELETE /api/v1/session',
  patchMe: 'PATCH /api/v1/me',
  putMyPassword: 'PUT /api/v1/me/password',
  listUsersOperation: 'GET /api/v1/admin/users',
  createUserOperation: 'POST /api/v1/admin/users',
  suspendUserOperation: 'POST /api/v1/admin/users/{id}/suspend',
  unsuspendUserOperation: 'POST /api/v1/admin/users/{id}/unsuspend',
  resetPasswordOperation: 'POST /api/v1/admin/users/{id}/reset-password',
  listAuditLogs: 'GET /api/v1/audit-logs',
  sendEmail: 'POST /api/v1/emails',
  listEmails: 'GET /api/v1/emails',
  getEmail: 'GET /api/v1/emails/{id}',
  listEmailAttempts: 'GET /api/v1/emails/{id}/attempts',
  cancelEmail: 'POST /api/v1/emails/{id}/cancel',
  retryEmail: 'POST /api/v1/emails/{id}/retry',
  resendEmail: 'POST /api/v1/emails/{id}/resend',
  getStats: 'GET /api/v1/stats',
  listInbox: 'GET /api/v1/inbox',
  getQueues: 'GET /api/v1/admin/queues',
  getHealth: 'GET /api/v1/admin/health',
} as const
