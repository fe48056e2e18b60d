// Alert rules in a browser: a new rule from a chart with a proposed limit, the sentence about the past, and the page of a rule.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  createAlertRuleRoute,
  getAlertRuleRoute,
  listAlertRulesRoute,
  tryAlertConditionRoute,
} from '@pharos/contract/alert/alert-rule'
import { alertRule, portId } from '@pharos/contract/examples/world'
import { getPortRoute } from '@pharos/contract/inventory/port'
import { skipWithoutBrowser, visit } from './browser.ts'
import { exampleOf } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { assertFitsPhone, mistakesOfLook } from './page-checks.ts'

describe('alert rules', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  it('are opened from a chart, with a limit from its values and how often they would have fired', async () => {
    example.server.answer(getPortRoute, () => ({ ...exampleOf(getPortRoute), id: portId }))
    const tried = exampleOf(tryAlertConditionRoute)
    const fired = tried.firings[0]!
    example.server.answer(tryAlertConditionRoute, ({ body: { condition } }) => ({
      ...tried,
      proposed_threshold: 7,
      measured_percent: 100,
      firings:
        condition.kind === 'port_utilisation' && condition.above_percent < 7 ? [fired, fired, fired] : [],
    }))
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page, pageErrors } = person
    await page.goto(example.server.url)
    await visit(page, `/ports/${portId}`)
    await page.getByRole('link', { name: /^Alert on this: Interface/ }).click()
    const limit = page.getByLabel('Above this load')
    await page.getByText('Would not have fired in 30 days.').waitFor()
    assert.equal(await limit.inputValue(), '7 %')
    await limit.fill('150')
    await page.getByText('Enter a limit and times to try the rule against the past.').waitFor()
    await page.getByRole('button', { name: 'Add alert rule' }).click()
    await page.getByText('Above this load must be from 0.1 to 100.').waitFor()
    await limit.fill('80.5')
    await page.getByText('Would not have fired in 30 days.').waitFor()
    await limit.fill('5')
    await page.getByText('Would have fired 3 times in 30 days.').waitFor()
    assert.match(await page.getByRole('textbox', { name: 'Name' }).inputValue(), /^Port load: /)
    assert.deepEqual(await mistakesOfLook(page), [])
    await page.getByRole('button', { name: 'Add alert rule' }).click()
    await page.getByRole('heading', { name: alertRule.name }).waitFor()
    const [asked] = example.server.asked(createAlertRuleRoute)
    assert.deepEqual(asked!.body.condition, alertRule.condition)
    assert.deepEqual(pageErrors, [])
  })

  it('show why their state is unknown, and that their object is gone', async () => {
    example.server.reset()
    const rule = {
      ...exampleOf(getAlertRuleRoute),
      state: 'unknown' as const,
      reason: 'no_object' as const,
      firing_since: null,
      object: { type: 'port' as const, id: portId, name: '' },
    }
    example.server.answer(getAlertRuleRoute, () => rule)
    example.server.answer(listAlertRulesRoute, () => ({ results: [rule], count: 1 }))
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page, pageErrors } = person
    await page.goto(example.server.url)
    await visit(page, '/alerts')
    await page.getByRole('row').filter({ hasText: rule.name }).getByText('No longer yours').waitFor()
    await page.getByRole('link', { name: rule.name }).click()
    await page.getByText('The object no longer belongs to the team. Change the rule or delete it.').waitFor()
    await page.getByText('Unknown').first().waitFor()
    assert.deepEqual(await mistakesOfLook(page), [])
    await assertFitsPhone(page, `/alerts/${alertRule.id}`)
    assert.deepEqual(pageErrors, [])
  })
})
