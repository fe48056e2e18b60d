// Shows a message on any page when an attack starts; has no elements of its own.
import { Anchor } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { StreamEvent } from '@pharos/contract/messages/stream-client'
import type { MessageData } from '@pharos/contract/messages/webhook-message'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { onMessage } from '../api/stream.ts'
import { formatRate } from '../ui/rate.ts'
import { networkText } from './network-text.ts'
import { words } from './words.ts'

const { notification: texts } = words

/** No notification for an older attack that is read after a reconnection. */
const recentMs = 10 * 60_000

export function AttackNotification() {
  const navigate = useNavigate()
  useEffect(
    () =>
      onMessage((event) => showAttack(event, (id) => void navigate({ to: '/events/$id', params: { id } }))),
    [navigate],
  )
  return null
}

function showAttack({ type, message }: StreamEvent, open: (id: string) => void): void {
  if (type !== 'incident.started' || document.hidden) return
  const { id, network, affected_bps: bps, start, end } = message.data as MessageData<'incident.started'>
  if (end !== null || Date.now() - new Date(start).getTime() > recentMs) return
  notifications.show({
    id,
    color: 'bad',
    title: texts.title(network === '' ? texts.unknown : networkText(network)),
    message: (
      <Anchor component="button" size="sm" onClick={() => (notifications.hide(id), open(id))}>
        {formatRate(bps, 'bps')} · {texts.view}
      </Anchor>
    ),
    autoClose: 20_000,
  })
}
