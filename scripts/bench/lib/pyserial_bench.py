"""Baselines with a bare pyserial loop.  read PATH BYTES | echo PATH ROUNDS | cpu PATH SECONDS"""
import json, os, sys, time
import serial

mode, path, amount = sys.argv[1], sys.argv[2], int(sys.argv[3])
port = serial.Serial(path, 115200, timeout=None)
print("ready", flush=True)
if mode == "read":
    got, first = 0, None
    while got < amount:
        data = port.read(port.in_waiting or 1)
        if first is None:
            first = time.perf_counter()
        got += len(data)
    print(json.dumps({"seconds": time.perf_counter() - first, "bytes": got}))
elif mode == "cpu":
    end = time.perf_counter() + amount
    port.timeout = 0.2
    got, t0 = 0, os.times()
    while time.perf_counter() < end:
        got += len(port.read(port.in_waiting or 1))
    t1 = os.times()
    print(json.dumps({"cpuSeconds": t1.user + t1.system - t0.user - t0.system, "bytes": got}))
else:
    times = []
    for i in range(amount):
        t0 = time.perf_counter()
        port.write(b"ping%03d\n" % (i % 1000))
        port.read(8)
        times.append((time.perf_counter() - t0) * 1000)
    times.sort()
    print(json.dumps({"p50": times[len(times) // 2], "p99": times[int(len(times) * 0.99)]}))
