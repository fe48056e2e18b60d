// A process that inserts blocks until it is killed, for tests: each block until it is acknowledged, from the number that the
// arguments name. It prints the number of each acknowledged block.
import { createFlowStore } from './flow-store.ts'
import { flowsBlock } from './testing.ts'

const [dataDir, first, rows, time] = process.argv.slice(2) as [string, string, string, string]
const store = createFlowStore({
  url: null,
  dataDir,
  retention: { flowDays: 3650, rollupDays: 3650 },
  log: () => {},
})
const { embedded } = await store.probe()
process.stdout.write(embedded ? 'open\n' : 'server\n')
for (let number = Number(first); ; number++) {
  await store.insert('flows', flowsBlock(Number(rows), 1, Number(time)), `block-${number}`)
  process.stdout.write(`${number}\n`)
}
