// node run_suite.mjs SUITE BASE_URL [TEST_ID]
//
// Runs the tests of http-cache-tests, whose folder is SUITE, against the cache at BASE_URL, as the
// suite's own cli.mjs does, but tells of each test what it came to in the suite's own judgement:
// one line of JSON on stdout, a list of {id, suite, name, kind, outcome, message}. With TEST_ID that
// test alone, and before the result what was said.
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, baseUrl, testId] = process.argv.slice(2)
const load = file => import(pathToFileURL(path.join(folder, file)))

const { makeCacheTest, testResults } = await load('client/test.mjs')
const config = await load('client/config.mjs')
const { determineTestResult } = await load('lib/display.mjs')
const suites = [...(await load('tests/index.mjs')).default]
suites.push((await load('tests/surrogate-control.mjs')).default) // as cli.mjs does
const fetch = createRequire(path.join(folder, 'cli.mjs'))('node-fetch')

// "optimal" is the suite's word in code, "optional" the one on its pages.
const KINDS = { undefined: 'required', required: 'required', optimal: 'optional', check: 'check' }
// The third of what determineTestResult gives; it names nothing.
const OUTCOMES = {
  '-': 'untested',
  '✅': 'pass',
  '⛔️': 'fail',
  '⚠️': 'fail',
  Y: 'yes',
  N: 'no',
  '🔹': 'setup failed',
  '⁉️': 'harness failed',
  '⚪️': 'depends on one that fails',
  '↻': 'request was repeated'
}

let chosen = suites
if (testId) {
  chosen = suites.map(suite => ({ ...suite, tests: suite.tests.filter(test => test.id === testId) }))
  for (const suite of chosen) for (const test of suite.tests) test.dump = true
}
const tests = chosen.flatMap(suite => suite.tests.map(test => ({ suite: suite.id, test })))
  .filter(({ test }) => !test.browser_only)

config.setFetch(fetch)
config.setBaseUrl(baseUrl)
config.setUseBrowserCache(false)

// Some at once, as most of a test's time is pauses of three seconds. The suite's own runner has a
// hundred at once, so that an origin drops many connections in a row on purpose: for us it is down
// then, and the circuit breaker keeps everybody from it, as it should. Those tests go one by one.
const AT_ONCE = 40
async function runAll (queue, atOnce) {
  const next = async () => { while (queue.length > 0) await makeCacheTest(queue.shift()) }
  await Promise.all(Array.from({ length: atOnce }, next))
}
const drops = test => test.requests.some(request => request.disconnect)
const all = tests.map(({ test }) => test)
await Promise.all([
  runAll(all.filter(test => !drops(test)), AT_ONCE),
  runAll(all.filter(drops), 1)
])

const told = tests.map(({ suite, test }) => {
  const symbol = determineTestResult(suites, test.id, testResults, !testId)[2]
  if (!(symbol in OUTCOMES)) throw new Error(`no word for ${symbol}`)
  return {
    id: test.id,
    suite,
    name: test.name,
    kind: KINDS[test.kind],
    outcome: OUTCOMES[symbol],
    message: testResults[test.id] === true ? '' : (testResults[test.id]?.[1] ?? '')
  }
})
console.log(JSON.stringify(told))
