// A serving process must not wait for a disk: a rename over a file takes 30 ms on a busy one. Files are replaced with
// replaceFile(); the remaining synchronous writes are listed with the reason why they do not delay requests.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'node:test'

const source = fileURLToPath(new URL('../src/', import.meta.url))

type Reason =
  | 'start or end of the process'
  | 'process of its own'
  | 'thread of its own'
  | 'command'
  | 'the log'

const allowed: Readonly<Record<string, Reason>> = {
  // The state of `pharos agent`.
  'byoip/regions/handed-routes.ts': 'process of its own',
  'collector/batcher.ts': 'thread of its own',
  'collector/collector-id.ts': 'start or end of the process',
  'collector/spool.ts': 'start or end of the process',
  'commands/support-bundle.ts': 'command',
  'db/embedded-binaries.ts': 'start or end of the process',
  'db/embedded-cluster.ts': 'start or end of the process',
  'db/embedded-orphan.ts': 'start or end of the process',
  'db/embedded-server.ts': 'start or end of the process',
  'db/embedded.ts': 'start or end of the process',
  'db/generate.ts': 'command',
  'drivers/clickhouse/chdb-process.ts': 'process of its own',
  'drivers/clickhouse/deduplication-log.ts': 'process of its own',
  // Also when ClickHouse is started again after it has ended.
  'drivers/clickhouse/embedded.ts': 'start or end of the process',
  'runtime/files.ts': 'start or end of the process',
  'runtime/log-output.ts': 'the log',
  'runtime/socket-dir.ts': 'start or end of the process',
}

/** The functions of node:fs that change a file or a folder, and `openSync` other than for reading. */
const writes =
  /\b(?:append|chmod|chown|copy|cp|f?truncate|fchmod|fchown|fdatasync|fsync|futimes|link|mkdir|mkdtemp|rename|rm|rmdir|symlink|unlink|utimes|write|writev)(?:File)?Sync\(|\bopenSync\((?![^)]*'r'\))/

function filesWith(pattern: RegExp): string[] {
  return globSync('**/*.ts', { cwd: source })
    .filter((file) => !/\.test\.ts$|(?:^|\/)testing|\/fixtures/.test(file))
    .filter((file) => pattern.test(readFileSync(source + file, 'utf8')))
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
}

describe('files of the server', () => {
  it('are written synchronously only where nothing waits for it', () => {
    assert.deepEqual(filesWith(writes), Object.keys(allowed))
  })

  it('are replaced in one way', () => {
    assert.deepEqual(filesWith(/(?<!\.)\brename\(/), ['collector/spool.ts', 'runtime/files.ts'])
  })

  it('find each kind of write', () => {
    for (const text of [
      `writeFileSync(path, text)`,
      `renameSync(aside, path)`,
      `mkdirSync(folder)`,
      `rmSync(path)`,
      `openSync(path, 'a', 0o600)`,
      `writeSync(fd, octets)`,
    ])
      assert.match(text, writes)
    for (const text of [`readFileSync(path)`, `openSync(path, 'r')`, `existsSync(path)`, `readdirSync(path)`])
      assert.doesNotMatch(text, writes)
  })
})
