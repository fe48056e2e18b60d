// The button of a chart that opens a new alert rule on its values.
import type { AlertKind } from '@pharos/contract/alert/alert-rule'
import { IconAlertCircle } from '@tabler/icons-react'
import { useGrant } from '../api/use-grant.ts'
import { ButtonLink } from '../ui/link.tsx'
import { words } from './words.ts'

type AlertLinkProps = {
  readonly kind: AlertKind
  /** Id of the port, service or announcement. */
  readonly object: number
  /** Id of the port whose bill it is. */
  readonly part?: number | null
  /** The series, if a page has several of these buttons. */
  readonly of?: string
}

export function AlertLink({ kind, object, part = null, of }: AlertLinkProps) {
  if (!useGrant('alerts.manage')) return null
  return (
    <ButtonLink
      to="/alerts/new"
      search={{ kind, object, ...(part === null ? {} : { part }) }}
      variant="subtle"
      size="compact-sm"
      leftSection={<IconAlertCircle size={14} />}
      {...(of === undefined ? {} : { 'aria-label': `${words.alertOnThis}: ${of}` })}
    >
      {words.alertOnThis}
    </ButtonLink>
  )
}
