import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { it } from 'node:test'
import { openFilesMax } from './open-files.ts'

it('the limit of open files is that of the shell', { skip: process.platform !== 'linux' }, () => {
  const program = `import('${import.meta.dirname}/open-files.ts').then(async (m) => console.log(await m.openFilesMax()))`
  const output = execFileSync('sh', ['-c', 'ulimit -n 640; exec "$0" -e "$1"', process.execPath, program])
  assert.equal(Number(output), 640)
})

it('the limit of open files is not known without /proc', async () => {
  assert.equal(await openFilesMax('/nonexistent'), undefined)
})
