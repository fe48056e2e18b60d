// Fragments of SQL about approvals for statements of the areas. They know the table, and no area.
import { sql } from 'kysely'
import type { ApprovalAreaName } from '@pharos/contract/reason/approval-reason'

/** Approvals `a` that still have an effect: open, or decided and valid. As text, for statements outside of the query builder. */
export const inForce = `(a.state = 'open' or a.state in ('approved', 'rejected') and coalesce(a.valid_until > now(), true))`

/** The audit entry of the decision about the approval `a`. Order by id: a clock may be set back, ids are not. */
export const decisionEntry = `(select max(e.id) from audit_entries e
  where e.team_id is null and e.target = 'approval:' || a.id and e.action = 'approval.decide')`

/** Valid decisions of staff: approvals `a` of the area. */
export const decidedOf = (area: ApprovalAreaName) => sql`
  from approvals a where a.area = ${area} and a.state in ('approved', 'rejected')
    and coalesce(a.valid_until > now(), true)`

/** The ids of rules in the reason of each approval `a` of shield rules, one row `(list_id, state, approval, id)` for each rule. */
export const rulesOfReason = (reason: string) => sql`
  select a.list_id, a.state, a.id as approval, r.id::bigint as id
  from approvals a, jsonb_array_elements_text(a.findings -> 0 -> 'attrs' -> 'rules') r (id)
  where a.area = 'shield' and a.findings -> 0 ->> 'reason' = ${reason}`
