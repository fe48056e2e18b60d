#!/usr/bin/env node
// `npx pharos ...`: runs the script that finds the pinned Node.
process.argv.splice(2, 0, 'pharos')
await import('../../scripts/run.mjs')
