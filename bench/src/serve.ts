// The product as a child process of the bench: the roles that are named, until the bench lets go of it.
import { createLog } from '../../server/src/runtime/log.ts'
import { loadConfig } from '../../server/src/runtime/config.ts'
import { realFiles } from '../../server/src/runtime/files.ts'
import { runRole, type Role } from '../../server/src/roles/serve.ts'

const config = loadConfig(process.env, realFiles)
const serving = await runRole(config, process.argv.slice(2) as Role[], createLog(config))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMicros: user + system })
})
process.on('disconnect', () => void serving.stop().then(() => process.exit()))
process.send?.({ url: serving.url ?? '' })
