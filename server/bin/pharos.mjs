#!/usr/bin/env node
// `pharos` of a checkout: replaces itself with the program, under the Node.js that runs it. It must not install anything.
import { fileURLToPath } from 'node:url'
import { nodeFlags, nodeMajorMin } from './runtime.mjs'

if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  process.stderr.write(`Pharos needs Node.js ${nodeMajorMin} or later; this is ${process.version}.\n`)
  process.exit(1)
}
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
process.execve(
  process.execPath,
  [process.execPath, ...nodeFlags, main, ...process.argv.slice(2)],
  process.env,
)
