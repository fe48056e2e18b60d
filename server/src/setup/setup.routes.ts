// The HTTP side of the first run.
import {
  createFirstAccountRoute,
  getSetupProgressRoute,
  showSetupRoute,
  updateSetupProgressRoute,
} from '@pharos/contract/operator/setup'
import { handleGuest, handleStaff, type Mounted } from '../http/mount.ts'
import { createFirstAccount, showSetup, type SetupDeps } from './first-account.ts'
import { getSetupProgress, updateSetupProgress, type ProgressDeps } from './progress.ts'

export const firstRunRoutes = (deps: SetupDeps & ProgressDeps): Mounted[] => [
  handleGuest(showSetupRoute, showSetup, deps),
  handleGuest(createFirstAccountRoute, createFirstAccount, deps),
  handleStaff(getSetupProgressRoute, getSetupProgress, deps),
  handleStaff(updateSetupProgressRoute, updateSetupProgress, deps),
]
