// `pharos start`: the demo platform, ready to try. The demo is a separate workspace, which only this file loads.
import { existsSync } from 'node:fs'
import { CommandFailure, type Command, type CommandContext } from './command.ts'

const demo = new URL('../../../demo/src/start.ts', import.meta.url)

export const start: Command = {
  name: 'start',
  usage: '[--quiet] [--no-traffic] [--no-portal] [--accept-lost-secrets]',
  summary: 'run the demo platform on loopback',
  async run(context) {
    if (!existsSync(demo))
      throw new CommandFailure('The demo is not installed here. For a platform of your own: pharos serve.')
    const { startDemo } = (await import(demo.href)) as { startDemo(context: CommandContext): Promise<void> }
    await startDemo(context)
  },
}
