-- What wrk asks for: PATHS paths under /SIZE/, drawn log-uniformly, so that the n-th path comes
-- about 1/n as often as the first. Arguments: SIZE PATHS SEED. The seed is fixed, so that every
-- server gets the same requests in the same order.

local requests = {}
local draw = math.random
local exp, floor = math.exp, math.floor
local scale

function init(args)
  local size, paths, seed = args[1], tonumber(args[2]), tonumber(args[3])
  math.randomseed(seed)
  scale = math.log(paths + 1)
  for n = 1, paths do
    requests[n] = wrk.format("GET", "/" .. size .. "/" .. n)
  end
end

function request()
  return requests[floor(exp(draw() * scale))]
end

-- The only line of the output that bench/load.py reads.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "duration_us": %d, "bytes": %d, "p50_us": %d, "p99_us": %d, ' ..
    '"errors": {"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}}\n',
    summary.requests, summary.duration, summary.bytes,
    latency:percentile(50), latency:percentile(99),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
