// `pharos config`: every setting with its value and where that comes from; secrets are never printed.
import { rejectArguments, type Command } from './command.ts'
import { describeConfiguration } from './configuration.ts'

export const config: Command = {
  name: 'config',
  usage: '',
  summary: 'print every setting with its value and source',
  async run(context) {
    rejectArguments(context)
    const settings = describeConfiguration(context.env)
    const width = Math.max(...settings.map(({ variable }) => variable.length))
    for (const { variable, value, source } of settings) {
      context.out(`${variable.padEnd(width)}  ${JSON.stringify(value)}  (${source})\n`)
    }
  },
}
