// Tells of an attack when it begins, on whatever page one is. Nothing is shown.
import { Anchor } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { StreamEvent } from '@pharos/contract/stream-client'
import type { MessageData } from '@pharos/contract/webhook-message'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { onMessage } from '../api/stream.ts'
import { formatRate } from '../ui/rate.ts'

/** What began long ago is no news, when a connection comes again. */
const newsMs = 10 * 60_000

export function NewAttack() {
  const navigate = useNavigate()
  useEffect(
    () => onMessage((event) => tell(event, (id) => void navigate({ to: `/events/${id}` as never }))),
    [navigate],
  )
  return null
}

function tell({ type, message }: StreamEvent, open: (id: string) => void): void {
  if (type !== 'event.started' || document.hidden) return
  const {
    id,
    affected_network: network,
    affected_bps: bps,
    start,
    end,
  } = message.data as MessageData<'event.started'>
  if (end !== null || Date.now() - new Date(start).getTime() > newsMs) return
  notifications.show({
    id,
    color: 'red',
    title: `An attack on ${network || 'an unknown network'} began`,
    message: (
      <Anchor component="button" size="sm" onClick={() => (notifications.hide(id), open(id))}>
        {formatRate(bps, 'bps')} so far: look at it
      </Anchor>
    ),
    autoClose: 20_000,
  })
}
