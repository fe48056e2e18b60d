import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { entriesBelow, foldersAbove, tarOf, type TarEntry } from './tar.ts'

const folder = mkdtempSync(join(tmpdir(), 'pharos-tar-'))
after(() => rmSync(folder, { recursive: true }))

const long = `${'directory/'.repeat(12)}${'name'.repeat(30)}.txt`

/** A folder with a long path, a program, an empty file, a file of exactly one block, and links. */
function makeFolder(name: string, time: number): string {
  const root = join(folder, name)
  mkdirSync(join(root, long, '..'), { recursive: true })
  writeFileSync(join(root, long), 'long path')
  writeFileSync(join(root, 'program'), '#!/bin/sh\n', { mode: 0o700 })
  writeFileSync(join(root, 'empty'), '')
  writeFileSync(join(root, 'block'), Buffer.alloc(512, 7))
  writeFileSync(join(root, 'größe'), 'UTF-8')
  symlinkSync('program', join(root, 'link'))
  symlinkSync(long, join(root, 'long-link'))
  utimesSync(join(root, 'empty'), time, time)
  return root
}

async function archive(entries: readonly TarEntry[], name: string): Promise<Buffer> {
  const bytes = Buffer.concat(await Array.fromAsync(tarOf(entries, 1_700_000_000)))
  writeFileSync(join(folder, name), bytes)
  return bytes
}

it('tar unpacks the same files, with owner root and one time', async () => {
  const root = makeFolder('a', 1)
  await archive([{ path: 'top/', mode: 0o755 }, ...entriesBelow(root, 'top/')], 'a.tar')
  const target = join(folder, 'unpacked')
  mkdirSync(target)
  execFileSync('tar', ['-xf', join(folder, 'a.tar'), '-C', target])
  execFileSync('diff', ['-r', '--no-dereference', root, join(target, 'top')])
  const listed = execFileSync(
    'tar',
    ['-tvf', join(folder, 'a.tar'), '--utc', '--full-time', '--quoting-style=literal'],
    {
      encoding: 'utf8',
    },
  )
  for (const line of listed.trimEnd().split('\n'))
    assert.match(line, /^\S+ (?:root\/root|0\/0) .* 2023-11-14 22:13:20 /)
  assert.match(listed, /^-rwxr-xr-x .* top\/program$/m)
  assert.match(listed, /^-rw-r--r-- .* top\/größe$/m)
  assert.ok(listed.includes(` top/${long}\n`))
  assert.ok(listed.includes(` top/long-link -> ${long}\n`))
})

it('the same files give the same bytes, in any order and with any times', async () => {
  const first = await archive(entriesBelow(makeFolder('b', 1)), 'b.tar')
  const second = await archive(entriesBelow(makeFolder('c', 2)).toReversed(), 'c.tar')
  assert.ok(first.equals(second))
})

it('the last of several entries with one path is kept', async () => {
  await archive(
    [
      { path: 'x', mode: 0o644, content: Buffer.from('old') },
      ...foldersAbove('usr/lib/x'),
      { path: 'x', mode: 0o644, content: Buffer.from('new'), owner: 65_532 },
    ],
    'd.tar',
  )
  const file = join(folder, 'd.tar')
  assert.equal(execFileSync('tar', ['-xOf', file, 'x'], { encoding: 'utf8' }), 'new')
  assert.match(
    execFileSync('tar', ['-tvf', file], { encoding: 'utf8' }),
    /usr\/\n.*usr\/lib\/\n.*65532\/65532/,
  )
  assert.equal(readFileSync(file).length % 512, 0)
})
