// Wires webhooks: operations of the api role, and the loop of the collector role that sends deliveries.
import { createLoopComponent } from '../db/loop-component.ts'
import { createHostResolver } from '../drivers/outgoing/resolve-host.ts'
import { createWebhookSender } from '../drivers/webhook/sender.ts'
import type { Mounted } from '../http/mount.ts'
import { parseNetworks } from '../net/network-list.ts'
import { parsePorts } from '../net/port-list.ts'
import { maskHostBits, type Prefix } from '../net/prefix.ts'
import type { Parts, Shared } from '../process/shared.ts'
import type { Component } from '../runtime/component.ts'
import type { Config } from '../runtime/config.ts'
import { fromSetting } from '../runtime/from-setting.ts'
import type { Log } from '../runtime/log.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { RateLimiter } from '../runtime/rate-limit.ts'
import { parseWebhookSecret } from './operator-webhook-secret.ts'
import { applyOperatorWebhook } from './operator-webhook.ts'
import { errorOf } from './schedule.ts'
import { createWebhookSending, type SendOutcome } from './send-webhooks.ts'
import type { Due } from './send.store.ts'
import type { SendResult, WebhookSender } from './webhook-sender.ts'
import { webhookRoutes } from './webhook.routes.ts'

const allowedNetworks = ({ webhookNetworksAllowed }: Config): readonly Prefix[] =>
  fromSetting('webhook_networks_allowed', () => parseNetworks(webhookNetworksAllowed))

function createSender(config: Config, allowed = allowedNetworks(config)): WebhookSender {
  const resolver = createHostResolver({ servers: config.dnsResolvers })
  return createWebhookSender({ resolver, allowed })
}

/** The operator chose its URL, so it may lead anywhere. */
const anyNetwork = [maskHostBits('0.0.0.0/0'), maskHostBits('::/0')]

function operatorWebhookOf({ operatorWebhookUrl: url, operatorWebhookSecret: secret }: Config) {
  return url === null || secret === null ? undefined : { url, secret: parseWebhookSecret(secret) }
}

export function routes(shared: Shared): Mounted[] {
  const { config, metrics } = shared
  return webhookRoutes({
    ...shared,
    quota: config.webhooksPerTeam,
    urlRules: {
      networks: allowedNetworks(config),
      ports: fromSetting('webhook_ports_allowed', () => parsePorts(config.webhookPortsAllowed)),
    },
    sender: createSender(config),
    tests: new RateLimiter({
      perSecond: config.webhookTestsPerMinute / 60,
      burst: config.webhookTestsPerMinute,
    }),
    onSent: (outcome) => metrics.webhookDeliveries.inc({ outcome }),
  })
}

export const parts = (shared: Shared): Parts => ({ collector: () => [webhooksPart(shared)] })

/** Retries become due without a notification. */
const intervalMs = 2_000
/** How long a stop waits for responses; deliveries that are cut short are sent again. */
const graceMs = 5_000

export function webhooksPart(shared: Shared): Component {
  const { config, owner, ring, log, metrics } = shared
  const sending = createWebhookSending({
    ...shared,
    db: owner,
    sender: createSender(config),
    operatorSender: createSender(config, anyNetwork),
    parallel: config.webhooksAtOnce,
    random: Math.random,
    onOutcome: (outcome, due, result) => report(outcome, due, result, log, metrics),
    onError: (error) => log.error({ err: error }, 'webhook delivery not saved; it is sent again'),
    onEnd: () => loop.wake(),
  })
  let isApplied = false
  const run = async () => {
    if (!isApplied) await applyOperatorWebhook(owner, ring, operatorWebhookOf(config))
    isApplied = true
    await sending.run()
  }
  const loop = createLoopComponent(shared, {
    name: 'webhooks',
    wakeName: 'webhooks',
    intervalMs,
    sends: { gate: shared.gate },
    run,
  })
  return {
    name: loop.name,
    start: loop.start,
    async stop() {
      await loop.stop()
      await sending.stop(graceMs)
    },
  }
}

function report(
  outcome: SendOutcome,
  { webhook_id, delivery_id, type }: Due,
  result: SendResult,
  log: Log,
  metrics: Metrics,
): void {
  metrics.webhookDeliveries.inc({ outcome })
  const line = { webhook: webhook_id, delivery: delivery_id, type, reason: errorOf(result) }
  if (result.kind === 'unanswered' && result.isNotPublic)
    log.warn(
      { ...line, setting: 'webhook_networks_allowed' },
      'webhook target is in a network that is not allowed',
    )
  if (outcome === 'disabled') log.warn(line, 'webhook disabled')
  else log.debug({ ...line, outcome }, 'webhook delivery attempted')
}
