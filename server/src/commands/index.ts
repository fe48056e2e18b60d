// Every command of `pharos`, in the order of the help.
import { apply } from './apply.ts'
import type { Command } from './command.ts'
import { config } from './config.ts'
import { migrate } from './migrate.ts'
import { serve } from './serve.ts'
import { start } from './start.ts'

export const commands: readonly Command[] = [start, serve, migrate, apply, config]
