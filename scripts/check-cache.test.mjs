import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { foldersOfProgram, hasPassed, hashContent, savePassed } from './check-cache.mjs'

const root = mkdtempSync(join(tmpdir(), 'pharos-check-'))
after(() => rmSync(root, { recursive: true }))
const write = (file, text) => {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}
write('.gitignore', 'node_modules/\n*.log\n')
write('tsconfig.json', '{}')
write('README.md', 'one')
write('server/a.ts', 'one')
write('portal/b.ts', 'one')
write('scripts/c.mjs', 'one')
spawnSync('git', ['init', '-q'], { cwd: root })
spawnSync('git', ['add', 'server'], { cwd: root })

const passes = (title = 'lint', args = ['lint']) => hasPassed(root, title, args, hashContent(root))
const save = (read) => savePassed(root, 'lint', ['lint'], hashContent(root), read)

describe('a part of the check', () => {
  it('has not passed in a new clone', () => assert.equal(passes(), false))

  for (const [read, changed, expected] of [
    [['server'], 'server/a.ts', false],
    [['server'], 'server/new.ts', false],
    [['server'], 'tsconfig.json', false],
    [['server'], 'scripts/c.mjs', false],
    [['server'], 'node_modules/.package-lock.json', false],
    [['server'], 'portal/b.ts', true],
    [['server'], 'README.md', true],
    [['server'], 'server/a.log', true],
    [undefined, 'portal/b.ts', false],
    [undefined, 'README.md', false],
    [undefined, 'docs/new.md', false],
  ])
    it(`that reads ${read ?? 'everything'} ${expected ? 'is skipped' : 'runs again'} after a change of ${changed}`, () => {
      save(read)
      assert.equal(passes(), true)
      write(changed, `${changed} ${read} changed`)
      assert.equal(passes(), expected)
    })

  it('runs again after a file was deleted, without a commit', () => {
    save(['server'])
    rmSync(join(root, 'server/a.ts'))
    assert.equal(passes(), false)
  })

  it('runs again with other arguments, and under another title', () => {
    save(undefined)
    assert.equal(passes('lint', ['lint', '--strict']), false)
    assert.equal(passes('format'), false)
  })

  it('always runs outside of a git repository', () => {
    save(undefined)
    assert.equal(hasPassed(root, 'lint', ['lint'], hashContent(tmpdir())), false)
  })

  it('reads the folders of the files that the compiler lists', () => {
    const fileNames = ['../../node_modules/typescript/lib.d.ts', '../../server/a.ts', '../../contract/x.ts']
    write('node_modules/.cache/x.tsbuildinfo', JSON.stringify({ fileNames }))
    assert.deepEqual(foldersOfProgram(root, 'node_modules/.cache/x.tsbuildinfo'), ['contract', 'server'])
  })
})
