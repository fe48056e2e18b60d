// `pharos flows`: the exporters that have sent flows, and what the inventory does not know of them.
import { parseArgs } from 'node:util'
import { listSeenExporters } from '../analysis/flow/collect/exporter.store.ts'
import { UsageError, type Command, type CommandContext } from './command.ts'
import { withSchema } from './ready.ts'

export const flows: Command = {
  name: 'flows',
  usage: 'exporters',
  summary: 'list the exporters of flows and their unknown interfaces',
  async run(context) {
    const [verb, ...args] = context.args
    if (verb === 'exporters') return list(context, args)
    throw new UsageError(verb === undefined ? 'Add exporters.' : `pharos flows has no command ${verb}.`)
  },
}

async function list(context: CommandContext, args: readonly string[]): Promise<void> {
  parseArgs({ args: [...args], options: {} })
  await withSchema(context, async ({ owner }) => {
    const exporters = await listSeenExporters(owner)
    if (exporters.length === 0) context.out('No exporter has sent flows yet.\n')
    for (const { address, device, lastSeen, unknownInterfaces } of exporters) {
      const unknown =
        unknownInterfaces.length > 0 ? `  unknown interfaces: ${unknownInterfaces.join(', ')}` : ''
      context.out(`${address}  ${device ?? 'no device'}  last seen ${lastSeen.toISOString()}${unknown}\n`)
    }
  })
}
