// `pharos agent`: keeps the routes of one daemon over a restart while the control plane is away. It opens no database.
import { parseArgs } from 'node:util'
import { Agent } from '../byoip/reconcile/agent.ts'
import { readHanded } from '../byoip/reconcile/handed-routes.ts'
import { checkSpeaker, createSpeaker } from '../drivers/speakers.ts'
import { createLog } from '../runtime/log.ts'
import { untilStopped } from '../runtime/signals.ts'
import { UsageError, type Command } from './command.ts'

export const agent: Command = {
  name: 'agent',
  usage: '--file <routes> --address <host:port> --owner <community>',
  summary: `give a restarted gobgpd its last known routes while the control plane is away

Runs beside gobgpd, without a database. The file is <data_dir>/agents/<region>.<router>.routes of the reconciler; copy it to
this machine whenever it changes. The agent ends black holes at their time, and withdraws nothing else.`,
  async run({ args }) {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ args: [...args], options: { file: text, address: text, owner: text } })
    const { file, address, owner } = values
    if (file === undefined || address === undefined || owner === undefined)
      throw new UsageError('--file, --address and --owner are required.')
    const settings = { kind: 'gobgp', address, owner }
    const [problem] = checkSpeaker(settings)
    if (problem) throw new UsageError(`--${problem.path.join('.')}: ${problem.message}`)
    const log = createLog({ logLevel: 'info', logFormat: 'text' })
    const { speaker } = createSpeaker(settings, 'agent')
    const running = new Agent({ speaker, read: () => readHanded(file), now: () => new Date(), log })
    const stopped = untilStopped()
    running.start()
    log.info({ file, address }, 'agent started')
    await stopped
    await running.stop()
  },
}
