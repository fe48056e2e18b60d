// Every command of `pharos`, in the order of the help.
import { accessReview } from './access-review.ts'
import { agent } from './agent.ts'
import { apply } from './apply.ts'
import { approvals } from './approvals.ts'
import { audit } from './audit.ts'
import { bills } from './bills.ts'
import type { Command } from './command.ts'
import { config } from './config.ts'
import { drain, undrain } from './drain.ts'
import { drill } from './drill.ts'
import { flowsCommand } from './flows.ts'
import { importInventory } from './import.ts'
import { mail } from './mail.ts'
import { migrateCommand } from './migrate.ts'
import { regionCommand } from './region.ts'
import { replay } from './replay.ts'
import { restore } from './restore.ts'
import { secrets } from './secrets.ts'
import { serve } from './serve.ts'
import { setupCode } from './setup-code.ts'
import { staffCommand } from './staff.ts'
import { start } from './start.ts'
import { status } from './status.ts'
import { supportBundle } from './support-bundle.ts'
import { teamCommand } from './team.ts'
import { token } from './token.ts'
import { userCommand } from './user.ts'

export const commands: readonly Command[] = [
  start,
  serve,
  setupCode,
  migrateCommand,
  apply,
  importInventory,
  status,
  supportBundle,
  token,
  userCommand,
  accessReview,
  teamCommand,
  staffCommand,
  replay,
  flowsCommand,
  approvals,
  restore,
  drill,
  drain,
  undrain,
  agent,
  regionCommand,
  audit,
  bills,
  mail,
  secrets,
  config,
]
