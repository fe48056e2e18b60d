// The HTTP side of approvals: one line per operation.
import {
  approveChangesRoute,
  getApprovalRoute,
  listApprovalsRoute,
  rejectChangesRoute,
} from '@pharos/contract/operator/approval'
import { handleStaff, type Mounted } from '../http/mount.ts'
import { approveChanges, getApproval, listApprovals, rejectChanges, type ApprovalDeps } from './approval.ts'

export const approvalRoutes = (deps: ApprovalDeps): Mounted[] => [
  handleStaff(listApprovalsRoute, listApprovals, deps),
  handleStaff(getApprovalRoute, getApproval, deps),
  handleStaff(approveChangesRoute, approveChanges, deps),
  handleStaff(rejectChangesRoute, rejectChanges, deps),
]
