import { describe, expect, test } from 'vitest'
import { whyMongodEnded, whyNotRunnable } from './diagnose-exit.ts'

const json = (severity: string, msg: string, attr: object = {}) => JSON.stringify({ s: severity, msg, attr })

describe('the end of a mongod is explained', () => {
  test.each([
    [
      'a full disk',
      { code: 100, signal: null, tail: [json('E', 'WiredTiger error', { message: 'write: No space left on device' })] },
      /disk that holds \/data is full/,
    ],
    [
      'data of a newer version',
      {
        code: 62,
        signal: null,
        tail: [json('F', 'UPGRADE PROBLEM: Found an invalid featureCompatibilityVersion document')],
      },
      /written by another version of MongoDB.*MONGOD_BINARY/,
    ],
    ['data of another version, by exit code alone', { code: 62, signal: null, tail: [] }, /another version of MongoDB/],
    [
      'a missing library',
      {
        code: 127,
        signal: null,
        tail: ['mongod: error while loading shared libraries: libcurl.so.4: cannot open shared object file'],
      },
      /libcurl\.so\.4 is missing \(package libcurl4\)/,
    ],
    [
      'another mongod on the folder',
      {
        code: 100,
        signal: null,
        tail: [json('E', 'Error setting up listener', { error: 'DBPathInUse: Unable to lock the lock file' })],
      },
      /another mongod is using \/data/,
    ],
    [
      'a folder that may not be written',
      { code: 100, signal: null, tail: [json('E', 'x', { error: 'Permission denied' })] },
      /may not write to \/data/,
    ],
    ['a kill', { code: null, signal: 'SIGKILL', tail: [] }, /^it ended with signal SIGKILL$/],
    [
      'an unknown fatal error, with its message',
      { code: 14, signal: null, tail: [] },
      /it aborted; its log is \/data\/mongod\.log/,
    ],
    [
      'something else, with the last error line',
      {
        code: 1,
        signal: null,
        tail: [json('I', 'noise'), json('F', 'Something broke', { error: 'why' }), json('I', 'bye')],
      },
      /code 1: Something broke: "why"/,
    ],
  ])('%s', (_, end, expected) => expect(whyMongodEnded(end, '/data')).toMatch(expected))
})

describe('a program that does not run is explained', () => {
  test.each([
    ['no such file', Object.assign(new Error('spawn x ENOENT'), { code: 'ENOENT' }), 'there is no such file'],
    ['not executable', Object.assign(new Error('spawn x EACCES'), { code: 'EACCES' }), 'it is not executable'],
    [
      'a missing library',
      Object.assign(new Error('failed'), {
        stderr: 'mongod: error while loading shared libraries: libssl.so.3: cannot open',
      }),
      'the shared library libssl.so.3 is missing (package libssl3 or openssl); install it or use another mongod by MONGOD_BINARY',
    ],
    [
      'an old C library',
      Object.assign(new Error('failed'), { stderr: "mongod: /lib/libc.so.6: version `GLIBC_2.34' not found" }),
      'this system has an older C library than it needs',
    ],
    ['another processor', new Error('spawn: Exec format error'), 'it is made for another kind of processor'],
  ])('%s', (_, error, expected) => expect(whyNotRunnable(error)).toBe(expected))
})
