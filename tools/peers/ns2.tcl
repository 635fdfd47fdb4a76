# The networks of bench/cbr and bench/tcp for ns-2.35: ns ns2.tcl cbr|tcp
# Prints the data packets that were delivered.

# Lean: a packet carries the headers in use alone.
remove-all-packet-headers
add-packet-header IP TCP Flags RTP

set which [lindex $argv 0]
set ns [new Simulator]
Queue/DropTail set queue_in_bytes_ true

# Sources and sinks behind access links, one bottleneck between them. A limit is in packets of mean_pktsize_ bytes.
proc dumbbell {sources access rate limit} {
    global ns source sink
    set left [$ns node]
    set right [$ns node]
    $ns duplex-link $left $right $rate 23ms DropTail
    $ns queue-limit $left $right $limit
    for {set i 0} {$i < $sources} {incr i} {
        set source($i) [$ns node]
        set sink($i) [$ns node]
        $ns duplex-link $source($i) $left $access 1ms DropTail
        $ns duplex-link $right $sink($i) $access 1ms DropTail
        $ns queue-limit $source($i) $left 100000
    }
}

proc constant {i rate} {
    global ns source sink received
    set agent [new Agent/UDP]
    $agent set packetSize_ 1000
    $ns attach-agent $source($i) $agent
    set received($i) [new Agent/LossMonitor]
    $ns attach-agent $sink($i) $received($i)
    $ns connect $agent $received($i)
    set traffic [new Application/Traffic/CBR]
    $traffic set packetSize_ 1000
    $traffic set rate_ $rate
    $traffic attach-agent $agent
    $ns at 0 "$traffic start"
}

proc bulk {i at} {
    global ns source sink tcp
    set tcp($i) [new Agent/TCP/Newreno]
    $tcp($i) set packetSize_ 1448
    $tcp($i) set window_ 100000
    $tcp($i) set windowInit_ 10
    $ns attach-agent $source($i) $tcp($i)
    set agent [new Agent/TCPSink/DelAck]
    $ns attach-agent $sink($i) $agent
    $ns connect $tcp($i) $agent
    set transfer [new Application/FTP]
    $transfer attach-agent $tcp($i)
    $ns at $at "$transfer start"
}

proc finish {} {
    global received tcp
    set delivered 0
    foreach i [array names received] { incr delivered [$received($i) set npkts_] }
    foreach i [array names tcp] { incr delivered [$tcp($i) set ack_] }
    puts $delivered
    exit 0
}

if {$which == "cbr"} {
    Queue/DropTail set mean_pktsize_ 1000
    dumbbell 3 100Mb 3Mb 112
    constant 0 1.2Mb
    constant 1 1Mb
    constant 2 1Mb
    $ns at 200 finish
} else {
    Queue/DropTail set mean_pktsize_ 1000
    dumbbell 11 1Gb 100Mb 1250
    for {set i 0} {$i < 10} {incr i} { bulk $i [expr 0.1 * $i] }
    constant 10 3Mb
    $ns at 60 finish
}
$ns run
