// The networks of bench/cbr and bench/tcp for ns-3.37: ns3 cbr|tcp
// Prints the data packets that were delivered.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

int main(int argc, char *argv[])
{
    const bool cbr = argc > 1 && std::string(argv[1]) == "cbr";
    const uint32_t pairs = cbr ? 3 : 11;
    const double end = cbr ? 200 : 60;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 22));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 22));

    NodeContainer routers, sources, sinks;
    routers.Create(2);
    sources.Create(pairs);
    sinks.Create(pairs);
    InternetStackHelper().InstallAll();

    PointToPointHelper access, bottleneck;
    access.SetDeviceAttribute("DataRate", StringValue(cbr ? "100Mbps" : "1Gbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    bottleneck.SetDeviceAttribute("DataRate", StringValue(cbr ? "3Mbps" : "100Mbps"));
    bottleneck.SetChannelAttribute("Delay", StringValue("23ms"));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(cbr ? "112500B" : "1250000B"));

    // Addresses bring a queue discipline with them; the network has the queue of its device alone.
    TrafficControlHelper control;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    auto wire = [&](PointToPointHelper &helper, Ptr<Node> a, Ptr<Node> b) {
        auto devices = helper.Install(a, b);
        auto given = addresses.Assign(devices);
        control.Uninstall(devices);
        addresses.NewNetwork();
        return given.GetAddress(1);
    };
    wire(bottleneck, routers.Get(0), routers.Get(1));
    std::vector<Ptr<PacketSink>> received;
    for (uint32_t i = 0; i < pairs; ++i)
    {
        wire(access, sources.Get(i), routers.Get(0));
        const auto address = wire(access, routers.Get(1), sinks.Get(i));
        const bool constant = cbr || i == 10;
        const std::string factory = constant ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory";
        const InetSocketAddress to(address, 5000);
        auto listening = PacketSinkHelper(factory, InetSocketAddress(Ipv4Address::GetAny(), 5000)).Install(sinks.Get(i));
        received.push_back(DynamicCast<PacketSink>(listening.Get(0)));
        ApplicationContainer sending;
        if (constant)
        {
            // 28 bytes of headers are on the wire besides.
            OnOffHelper helper(factory, to);
            const double rate = !cbr ? 3e6 : i == 0 ? 1.2e6 : 1e6;
            helper.SetConstantRate(DataRate(static_cast<uint64_t>(rate * 972 / 1000)), 972);
            sending = helper.Install(sources.Get(i));
        }
        else
        {
            BulkSendHelper helper(factory, to);
            helper.SetAttribute("SendSize", UintegerValue(1448));
            sending = helper.Install(sources.Get(i));
            sending.Start(Seconds(0.1 * i));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(end));
    Simulator::Run();
    uint64_t delivered = 0;
    for (uint32_t i = 0; i < pairs; ++i)
    {
        delivered += received[i]->GetTotalRx() / (cbr || i == 10 ? 972 : 1448);
    }
    std::cout << delivered << std::endl;
    Simulator::Destroy();
}
