-- What wrk asks for. Arguments: ORDER SIZE PATHS SEED SALT MISSES DEPTH [FILE]. Paths are
-- /SIZE/1 to /SIZE/PATHS. ORDER is one of
--   all   one after the other from SALT on, for warming
--   draw  log-uniformly, so that the n-th path comes about 1/n as often as the first; a share of
--         MISSES of the requests is for paths that nobody has asked for
--   uniform  every path as often as every other, of as many as there may be
--   log   the targets in FILE, a line each, over and over, each time below another folder
-- DEPTH requests are sent at once. The seed is fixed, so that every server gets the same requests
-- in the same order. SALT differs from round to round, and what is new to the caches with it.

local random = math.random
local exp, floor = math.exp, math.floor
local concat = table.concat
local orders = {}
local next_request

local function known_requests(size, paths)
  local requests = {}
  for n = 1, paths do
    requests[n] = wrk.format("GET", "/" .. size .. "/" .. n)
  end
  return requests
end

-- The parts of a request before and behind its target.
local function around()
  local text = wrk.format("GET", "/@")
  local from, to = text:find("/@", 1, true)
  return text:sub(1, from - 1), text:sub(to + 1)
end

function orders.all(size, paths, salt)
  local before, behind = around()
  local folder, n = "/" .. size .. "/", tonumber(salt)
  return function()
    n = n + 1
    return before .. folder .. (n - 1) % paths + 1 .. behind
  end
end

function orders.draw(size, paths, salt, misses)
  local requests, scale = known_requests(size, paths), math.log(paths + 1)
  local before, behind = around()
  local folder, new = "/" .. size .. "/new-" .. salt .. "-", 0
  return function()
    if misses > 0 and random() < misses then
      new = new + 1
      return before .. folder .. new .. behind
    end
    return requests[floor(exp(random() * scale))]
  end
end

function orders.uniform(size, paths)
  local before, behind = around()
  local folder = "/" .. size .. "/"
  return function()
    return before .. folder .. random(paths) .. behind
  end
end

function orders.log(_, _, salt, _, file)
  local targets, n, pass = {}, 0, 1
  for line in io.lines(file) do targets[#targets + 1] = line end
  local before, behind = around()
  local folder = "/log-" .. salt .. "-"
  return function()
    n = n + 1
    if n > #targets then n, pass = 1, pass + 1 end
    return before .. folder .. pass .. targets[n] .. behind
  end
end

function init(args)
  local order, size, paths, seed = args[1], args[2], tonumber(args[3]), tonumber(args[4])
  local salt, misses, depth = args[5], tonumber(args[6]), tonumber(args[7])
  math.randomseed(seed)
  local one = orders[order](size, paths, salt, misses, args[8])
  next_request = one
  if depth > 1 then
    local several = {}
    next_request = function()
      for n = 1, depth do several[n] = one() end
      return concat(several)
    end
  end
end

function request()
  return next_request()
end

-- The only line of the output that bench/load.py reads.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"requests": %d, "duration_us": %d, "bytes": %d, "p50_us": %d, "p99_us": %d, ' ..
    '"p999_us": %d, ' ..
    '"errors": {"connect": %d, "read": %d, "write": %d, "status": %d, "timeout": %d}}\n',
    summary.requests, summary.duration, summary.bytes,
    latency:percentile(50), latency:percentile(99), latency:percentile(99.9),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout))
end
