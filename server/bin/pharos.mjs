#!/usr/bin/env node
// `npx pharos ...`: hands over to the script that finds the pinned Node.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const run = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url))
const { status } = spawnSync(process.execPath, [run, 'pharos', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1
