/** The values that a first installation needs, made at random. */
import { randomBytes } from 'node:crypto'
import { TRIAL_SET, TRIAL_USER } from '../../services/platform/mongod/initiate-replica-set.ts'

/** Values by key; with `mongodbHost` those of the trial database as well. */
export function neededSecrets(mongodbHost: string): Record<string, string> {
  const secrets = {
    SESSION_SECRET: randomBytes(48).toString('base64'),
    ADMIN_USERNAME: 'admin',
    ADMIN_PASSWORD: randomBytes(18).toString('base64url'),
  }
  if (!mongodbHost) return secrets
  const password = randomBytes(24).toString('base64url')
  return {
    ...secrets,
    MONGODB_PASSWORD: password,
    // Between 6 and 1024 characters of the base64 set (MongoDB manual, "Key Files").
    MONGODB_KEYFILE: randomBytes(384).toString('base64'),
    MONGODB_URI: `mongodb://${TRIAL_USER}:${password}@${mongodbHost}:27017/postwright?replicaSet=${TRIAL_SET}&authSource=admin`,
  }
}
