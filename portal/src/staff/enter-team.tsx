// The dialog in which staff enter the team of a customer: with a reason, which the customer reads, and a window. One dialog for all
// pages, opened by `askToEnter`.
import { createSessionTokenRoute, staffAccessRequest } from '@pharos/contract/session/session'
import { staffAccessLimits } from '@pharos/contract/staff-role'
import { useNavigate, type LinkOptions } from '@tanstack/react-router'
import { Type } from 'typebox'
import { useEffect, useSyncExternalStore } from 'react'
import { queryClient, teamIdNow } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { askToDiscard } from '../api/unsaved.ts'
import { Dialog } from '../ui/dialog.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { select, textarea, toggle } from '../ui/form-widgets.tsx'
import { words } from './words.ts'

const { enter: t } = words

export type EnteredTeam = {
  readonly id: number
  readonly name: string
  /** The page to open; by default the overview. */
  readonly to?: LinkOptions
}

let asked: EnteredTeam | undefined
const listeners = new Set<() => void>()

function setAsked(next: EnteredTeam | undefined): void {
  asked = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Opens the dialog, after the question about unsaved changes: the dialog has text of its own. */
export async function askToEnter(team: EnteredTeam): Promise<void> {
  if (await askToDiscard()) setAsked(team)
}

const declared = {
  reason: textarea({ label: t.reason, help: t.reasonHelp }),
  ticket: text({ label: t.ticket }),
  hours: select({
    label: t.hours,
    required: true,
    data: Array.from({ length: staffAccessLimits.hoursMax }, (_, at) => ({
      value: String(at + 1),
      label: t.hoursOf(at + 1),
    })),
  }),
  change: toggle({ label: t.change, help: t.changeHelp }),
}

/** The rules of the fields: of the switch of the team, whose hours are a choice here. */
const { reason, ticket, change } = staffAccessRequest
const rules = {
  method: createSessionTokenRoute.method,
  permission: createSessionTokenRoute.permission,
  body: Type.Object({ reason, ticket: Type.Optional(ticket), change: Type.Optional(change) }),
}

export function EnterTeamDialog() {
  const team = useSyncExternalStore(subscribe, () => asked)
  const navigate = useNavigate()
  if (team === undefined) return null
  return (
    <Dialog
      key={team.id}
      title={t.title(team.name)}
      action={t.open}
      route={rules}
      declared={declared}
      initialValues={{ reason: '', ticket: '', hours: '1', change: false }}
      trigger={(open) => <Opened open={open} />}
      onClose={() => setAsked(undefined)}
      onSubmit={async (values) => {
        const isSame = teamIdNow() === team.id
        const { ticket, hours, ...rest } = values
        const access = { ...rest, hours: Number(hours), ...(ticket === '' ? {} : { ticket }) }
        await session.enterTeam({ team_id: team.id, ...access })
        // Its queries were refused before.
        if (isSame) await queryClient.resetQueries()
        await navigate(team.to ?? { to: '/' })
      }}
    />
  )
}

function Opened({ open }: { open: () => void }) {
  // Once: `open` is another function at each rendering.
  // oxlint-disable-next-line react-hooks/exhaustive-deps
  useEffect(() => open(), [])
  return null
}
