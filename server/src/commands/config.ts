// `pharos config`: every setting with its value and where that comes from; secrets are never printed.
import { describeConfig } from '../runtime/config.ts'
import { realFiles } from '../runtime/files.ts'
import { noArguments, type Command } from './command.ts'

export const config: Command = {
  name: 'config',
  usage: '',
  summary: 'print every setting with its value and source',
  async run(context) {
    noArguments(context)
    const settings = describeConfig(context.env, realFiles)
    const width = Math.max(...settings.map(({ variable }) => variable.length))
    for (const { variable, value, source } of settings) {
      context.out(`${variable.padEnd(width)}  ${JSON.stringify(value)}  (${source})\n`)
    }
  },
}
