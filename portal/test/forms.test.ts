// Forms in a browser, with the example server: one error at its field, focus, the question before changes are lost, and a sign-out that fails.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createWebhookRoute } from '@pharos/contract/messages/webhook'
import { skipWithoutBrowser } from './browser.ts'
import { Refusal } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { answeredWithText, intercept, lost, lostAnswer } from './intercept.ts'

describe('forms of the portal', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  it('show an error once, at its field, in words, and move the focus there', async () => {
    await using person = await example.open()
    const { page, pageErrors } = person
    await page.goto(`${example.server.url}/team/settings`)
    await page.getByLabel('Name').fill('')
    await page.getByLabel('NOC phone').fill('call me')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Name is required.', { exact: true }).waitFor()
    await page.getByText(/^NOC phone must be an international telephone number/).waitFor()
    assert.equal(await page.getByRole('main').getByRole('alert').count(), 0)
    await page.locator('[data-field=name] input:focus').waitFor()
    assert.equal(await page.getByLabel('Name').getAttribute('aria-invalid'), 'true')
    // Only the server knows what a public address is.
    example.server.answer(createWebhookRoute, () => {
      throw new Refusal(422, 'validation_failed', {
        errors: [{ loc: ['body', 'url'], msg: 'must begin with https://', type: 'value_error' }],
      })
    })
    await page.goto(`${example.server.url}/team/webhooks`)
    await page.getByRole('button', { name: 'Add webhook' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('URL').fill('http://hooks.example.net/x')
    await dialog.getByRole('button', { name: 'Add webhook' }).click()
    await dialog.getByText('URL must begin with https://.', { exact: true }).waitFor()
    assert.equal(await dialog.getByRole('alert').count(), 0)
    await dialog.locator('[data-field=url] input:focus').waitFor()
    assert.deepEqual(
      pageErrors.filter((error) => !/status of 422/.test(error)),
      [],
    )
  })

  it('ask before unsaved changes are lost, and only then', async () => {
    await using person = await example.open()
    const { page } = person
    await page.goto(`${example.server.url}/team/settings`)
    await page.getByLabel('Billing contact').fill('billing@demo.example')
    const leave = () => page.getByRole('navigation').getByText('Attacks', { exact: true }).first().click()
    await leave()
    const question = page.getByRole('dialog', { name: 'Discard changes?' })
    await question.getByRole('button', { name: 'Keep editing' }).click()
    assert.match(page.url(), /team\/settings/)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await leave()
    await page.waitForURL(/\/events/)
  })

  it('do not cover a mistake with the options of the field that gets the focus because of it', async () => {
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page } = person
    await page.goto(`${example.server.url}/zones/lindholm.example`)
    await page.getByRole('button', { name: 'Add record' }).click()
    const type = page.locator('[data-records] input[aria-haspopup=listbox]').first()
    await type.focus()
    assert.equal(await page.getByRole('listbox').count(), 0)
    await type.click()
    await page.getByRole('listbox').waitFor()
  })

  it('say that signing out has failed, and stay signed in', async () => {
    await using person = await example.open()
    const { page } = person
    const signOut = async () => {
      await page.getByRole('button', { name: /^Account of/ }).click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
    }
    for (const failure of [lost, answeredWithText(500, 'Internal Server Error')]) {
      await page.goto(`${example.server.url}/team/settings`)
      await using _ = await intercept(page, '**/v3/session/logout', failure)
      await signOut()
      await page.getByText('You are still signed in').waitFor()
      assert.equal(new URL(page.url()).pathname, '/team/settings')
    }
    // While the server does not answer at all, it is not known.
    await using away = await intercept(page, /\/v3\/session\/(logout|refresh)$/, lost)
    await signOut()
    await page.getByText('You may still be signed in').waitFor()
    await away.stop()
    await page.reload()
    await page.getByLabel('NOC phone').waitFor()
    // The session has ended, and the answer is lost: the server says so when it is asked.
    await using _ = await intercept(page, '**/v3/session/logout', lostAnswer)
    await signOut()
    await page.getByText('You have signed out.').waitFor()
  })
})
