// `pharos agent`: keeps the routes of one daemon over a restart while the control plane is away. It opens no database.
import { parseArgs } from 'node:util'
import { Agent } from '../byoip/regions/agent.ts'
import { createHandedReader, parseAgentKey } from '../byoip/regions/handed-routes.ts'
import { speakerDrivers, createSpeaker } from '../drivers/speakers.ts'
import { createLog } from '../runtime/log.ts'
import { untilStopped } from '../runtime/signals.ts'
import { UsageError, type Command } from './command.ts'

export const agent: Command = {
  name: 'agent',
  usage: '--file <routes> --key <keys> --state <folder> --address <host:port> --owner <community>',
  summary: `give a restarted gobgpd its last known routes while the control plane is away

Runs beside gobgpd, without a database. The file is <data_dir>/agents/<region>.<router>.routes of the reconciler; copy it to
this machine whenever it changes, under its name. The keys are those of \`pharos secrets agent-key\`, with commas between them; the
folder is of the agent alone. The agent ends black holes at their time, and withdraws nothing else.`,
  async run({ args }) {
    const { file, keys, stateDir, address, owner } = readAgentOptions(args)
    const log = createLog({ logLevel: 'info', logFormat: 'text' })
    const { speaker } = createSpeaker({ kind: 'gobgp', address, owner }, 'agent')
    const now = () => new Date()
    const running = new Agent({ speaker, read: createHandedReader({ file, stateDir, keys, now }), now, log })
    const stopped = untilStopped()
    running.start()
    log.info({ file, address }, 'agent started')
    await stopped
    await running.stop()
  },
}

/** Throws a UsageError if an option is missing or invalid. */
export function readAgentOptions(args: readonly string[]) {
  const text = { type: 'string' } as const
  const options = { file: text, key: text, state: text, address: text, owner: text }
  const { file, key, state: stateDir, address, owner } = parseArgs({ args: [...args], options }).values
  if (!file || !key || !stateDir || !address || !owner)
    throw new UsageError('--file, --key, --state, --address and --owner are required.')
  const [problem] = speakerDrivers.check({ kind: 'gobgp', address, owner })
  if (problem) throw new UsageError(`--${problem.path.join('.')}: ${problem.message}`)
  return { file, keys: key.split(',').map(parseKey), stateDir, address, owner }
}

function parseKey(text: string) {
  try {
    return parseAgentKey(text.trim())
  } catch (error) {
    throw new UsageError(`--key: ${(error as Error).message}`)
  }
}
