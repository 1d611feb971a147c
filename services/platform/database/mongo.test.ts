import mongoose from 'mongoose'
import { describe, expect, test } from 'vitest'
import { TimeoutError } from '../concurrency/timeout.ts'
import { isDuplicateKey, isUnavailable } from './mongo.ts'

const { mongo } = mongoose
const server = (code: number, codeName: string) =>
  new mongo.MongoServerError({ ok: 0, code, codeName, errmsg: codeName })
/** Errors that the driver throws and does not export. */
const named = (name: string) => Object.assign(new Error(name), { name })

describe('unavailability is reported as "try again in a few seconds"', () => {
  test.each([
    ['no primary was found', new mongo.MongoServerSelectionError('none', {} as never)],
    ['the connection broke', new mongo.MongoNetworkError('reset')],
    ['no answer came in time', new mongo.MongoNetworkTimeoutError('timeout')],
    ['the time for the operation is over', new mongo.MongoOperationTimeoutError('timed out')],
    ['every connection is in use', named('MongoWaitQueueTimeoutError')],
    ['the pool was cleared', named('MongoPoolClearedError')],
    ['we waited long enough', new TimeoutError(5_000)],
    ['the member is no primary any more', server(10_107, 'NotWritablePrimary')],
    ['the primary has stepped down', server(189, 'PrimarySteppedDown')],
    ['the step-down interrupted it', server(11_602, 'InterruptedDueToReplStateChange')],
    ['the member shuts down', server(91, 'ShutdownInProgress')],
    ['the shutdown interrupted it', server(11_600, 'InterruptedAtShutdown')],
    ['the member is starting', server(13_436, 'NotPrimaryOrSecondary')],
    ['it is a secondary', server(13_435, 'NotPrimaryNoSecondaryOk')],
    ['mongos does not reach a shard', server(6, 'HostUnreachable')],
    ['mongos does not know the address of a shard', server(7, 'HostNotFound')],
    ['a shard does not answer mongos', server(89, 'NetworkTimeout')],
    ['a shard has no primary', server(133, 'FailedToSatisfyReadPreference')],
    ['the connection of mongos broke', server(9_001, 'SocketException')],
  ])('when %s', (_, error) => expect(isUnavailable(error)).toBe(true))

  test.each([
    ['a key is taken', server(11_000, 'DuplicateKey')],
    ['a field is wrong', server(2, 'BadValue')],
    ['rights are missing', server(13, 'Unauthorized')],
    ['a document is refused', server(121, 'DocumentValidationFailure')],
    ['the programme is wrong', new TypeError('x is not a function')],
    ['it is no error at all', { code: 189 }],
    ['there is nothing', undefined],
  ])('not when %s', (_, error) => expect(isUnavailable(error)).toBe(false))
})

test.each([
  [server(11_000, 'DuplicateKey'), true],
  [server(11_001, 'other'), false],
  [new Error('E11000'), false],
  [null, false],
])('%s is a duplicate key: %s', (error, expected) => expect(isDuplicateKey(error)).toBe(expected))
