// Made of pipelines/ by `make templates`: change the templates there.
enum BuiltInTemplates {
  /// By KIND/NAME.
  static let texts: [String: String] = [
    "capture/camera": ###"""
# A camera of this machine (V4L2).
#
# v4l2src    The camera `device`. It is asked for `width` x `height`, raw or as JPEG: many cameras have few raw frames a
#            second at large sizes, so the first of these that gives `framerate` is taken, and else what there is.
# decodebin  Decodes JPEG, and passes on what is raw.
# videorate  Frames beyond `framerate` (a fraction) are dropped, and none is made up.
# frames     Frames out.
#
# Units: device file, width px, height px, framerate frames/s

v4l2src device=${device:-/dev/video0} do-timestamp=true
! video/x-raw,width=${width:-1280},height=${height:-720},framerate=[${framerate:-30/1},2147483647/1];
  image/jpeg,width=${width:-1280},height=${height:-720},framerate=[${framerate:-30/1},2147483647/1];
  video/x-raw,width=${width:-1280},height=${height:-720};image/jpeg,width=${width:-1280},height=${height:-720}
! decodebin
! videorate drop-only=true
! videoconvert n-threads=1
! video/x-raw,format=I420,framerate=[0/1,${framerate:-30/1}]
! appsink name=frames sync=false async=false max-buffers=3 drop=true

"""###,
    "capture/file": ###"""
# A file or an address, at its own pace: video, audio, or both.
#
# source  Reads `location`, such as file:///tmp/clip.mp4 or rtmp://server/app/key, and decodes it.
# frames  Frames out, when they are to be shown.
# split   Files hold audio in larger pieces, of which all but the beginning would be too early.
# pcm     Audio out, when it is to be heard.
#
# formats        Where decoding ends: of what can be sent as it is, the program puts that in front. A text without it is always
#                decoded.
# encoded        Frames out as they are, with their times.
# encoded-audio  Packets of Opus as they are.
#
# Units: location path or address, formats caps

uridecodebin name=source uri=${location} caps=${formats:-video/x-raw;audio/x-raw}
source. ! video/x-raw ! queue max-size-bytes=0 max-size-buffers=5 max-size-time=0
! videoconvert n-threads=1 ! video/x-raw,format=I420
! appsink name=frames sync=true async=false
source. ! audio/x-raw ! queue max-size-bytes=0 max-size-buffers=0 max-size-time=500000000
! audioconvert ! audioresample ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! audiobuffersplit output-buffer-duration=1/50
! appsink name=pcm sync=true async=false
source. ! video/x-h264;video/x-vp8;video/x-vp9 ! appsink name=encoded sync=true async=false
source. ! audio/x-opus ! appsink name=encoded-audio sync=true async=false

"""###,
    "capture/microphone-device": ###"""
# One microphone of this machine: `mediabridge publish --list-devices` names them.
#
# source  The element that captures: pulsesrc (PulseAudio or PipeWire) or alsasrc.
# pcm     Audio out.
#
# Units: source element, device name

${source:-pulsesrc} device=${device:-@DEFAULT_SOURCE@}
! audioconvert ! audioresample
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! appsink name=pcm sync=false async=false

"""###,
    "capture/microphone-processed": ###"""
# The microphone of this machine, with what disturbs taken out.
#
# source     The element that captures: autoaudiosrc takes what there is; pulsesrc (PulseAudio or PipeWire) and alsasrc can be
#            named, too. Another device than the default one takes a template of one's own, with device=NAME.
# webrtcdsp  Takes out noise (`noise`), and brings speech to one level (`gain`).
# pcm        Audio out.
#
# Units: source element, noise true or false, gain true or false

${source:-autoaudiosrc}
! audioconvert ! audioresample
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=1
! webrtcdsp noise-suppression=${noise:-true} gain-control=${gain:-true} echo-cancel=false
! audioconvert ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! appsink name=pcm sync=false async=false

"""###,
    "capture/microphone-without-echo": ###"""
# The microphone of this machine, without the echo of what its loudspeakers play.
#
# device           The microphone of PulseAudio or PipeWire; `mediabridge publish --list-devices` names them.
# webrtcdsp        Takes out what `played` plays: the higher `suppression` (low, moderate, high), the more of who speaks at
#                  the same time, too. It takes out noise (`noise`), and with it most of what is left, and brings speech to one
#                  level (`gain`).
# pcm              Audio out.
# played           The loudspeakers' monitor, so that it is known what all programs play. `device-period` µs of it and of the
#                  microphone are fetched at a time; on a busy machine `device-buffer` µs wait, and what does not fit puts both
#                  out of step.
# queue            Holds it back by `played-delay` ns. An echo is found from 0 to 60 ms after what is played: as many fewer
#                  of those are needed with loudspeakers that are late, such as those of Bluetooth.
# webrtcechoprobe  Hands it to webrtcdsp, which finds it by its name, `probe`, among those of the whole process.
#
# Units: device name, played name, device-buffer µs, device-period µs, suppression level, noise true or false,
# Units: gain true or false, played-delay ns, probe name

pulsesrc device=${device:-@DEFAULT_SOURCE@} buffer-time=${device-buffer:-200000} latency-time=${device-period:-10000}
! audioconvert ! audioresample
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=1
! webrtcdsp echo-cancel=true delay-agnostic=true probe=${probe:-played}
  echo-suppression-level=${suppression:-moderate} noise-suppression=${noise:-true} gain-control=${gain:-true}
! audioconvert ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! appsink name=pcm sync=false async=false

pulsesrc device=${played:-@DEFAULT_MONITOR@} buffer-time=${device-buffer:-200000} latency-time=${device-period:-10000}
! audioconvert ! audioresample
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=1
! queue max-size-bytes=0 max-size-buffers=0 max-size-time=1000000000 min-threshold-time=${played-delay:-0}
! webrtcechoprobe name=${probe:-played} ! fakesink sync=false async=false

"""###,
    "capture/microphone": ###"""
# The microphone of this machine, as it is.
#
# source  The element that captures: autoaudiosrc takes what there is; pulsesrc (PulseAudio or PipeWire) and alsasrc can be
#         named, too. Another device than the default one takes a template of one's own, with device=NAME.
# pcm     Audio out.
#
# Units: source element

${source:-autoaudiosrc}
! audioconvert ! audioresample
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! appsink name=pcm sync=false async=false

"""###,
    "capture/pattern": ###"""
# A moving test image with a clock.
#
# videotestsrc  `pattern` at `width` x `height`, `framerate` (a fraction).
# clockoverlay  The time of day; timeoverlay: how long it has been running.
# frames        Frames out.
#
# Units: pattern word, width px, height px, framerate frames/s

videotestsrc is-live=true do-timestamp=true pattern=${pattern:-ball} motion=sweep animation-mode=running-time
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},framerate=${framerate:-30/1}
! clockoverlay time-format="%H:%M:%S" halignment=left valignment=top shaded-background=true
! timeoverlay time-mode=elapsed-running-time halignment=left valignment=bottom shaded-background=true
! appsink name=frames sync=false async=false

"""###,
    "capture/rtsp": ###"""
# A live stream of a camera or a server over RTSP: its video, its audio, or both.
#
# source  Reads `location`, such as rtsp://camera/stream, and decodes it. What comes waits up to `latency` ms for what
#         is late. It comes by `protocols`: tcp, which gets through NAT and out of containers; udp; udp-mcast; or more
#         with + in between, of which tcp is tried last, once nothing has come for 5 s.
# frames  Frames out, when they are to be shown.
# split   Pieces of audio may be larger than those that are sent, and all but the beginning would be too early.
# pcm     Audio out, when it is to be heard.
#
# formats        Where decoding ends: of what can be sent as it is, the program puts that in front. A text without it is
#                always decoded.
# encoded        Frames out as they are, with their times.
# encoded-audio  Packets of Opus as they are.
#
# Units: location address, latency ms, protocols words, formats caps

uridecodebin name=source uri=${location} caps=${formats:-video/x-raw;audio/x-raw}
  source::latency=${latency:-200} source::protocols=${protocols:-tcp}
source. ! video/x-raw ! queue max-size-bytes=0 max-size-buffers=5 max-size-time=0
! videoconvert n-threads=1 ! video/x-raw,format=I420
! appsink name=frames sync=true async=false
source. ! audio/x-raw ! queue max-size-bytes=0 max-size-buffers=0 max-size-time=500000000
! audioconvert ! audioresample ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! audiobuffersplit output-buffer-duration=1/50
! appsink name=pcm sync=true async=false
source. ! video/x-h264;video/x-vp8;video/x-vp9 ! appsink name=encoded sync=true async=false
source. ! audio/x-opus ! appsink name=encoded-audio sync=true async=false

"""###,
    "capture/screen-audio": ###"""
# What is heard on this machine: all that a loudspeaker plays.
#
# source  The element that captures: pulsesrc (PulseAudio or PipeWire).
# device  The loudspeaker's monitor; `mediabridge publish --list-devices` names them.
# pcm     Audio out.
#
# Units: source element, device name

${source:-pulsesrc} device=${device:-@DEFAULT_MONITOR@}
! audioconvert ! audioresample
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! appsink name=pcm sync=false async=false

"""###,
    "capture/screen-portal": ###"""
# A screen or a window of this desktop, which the person there chooses: the way to a screen with Wayland.
#
# pipewiresrc  The stream `node` of PipeWire, over the connection `fd`. Where neither is set, the desktop's portal is asked
#              for them, and asks the person. It gives frames only where something changes; the last one is given again
#              after `still` ms.
# paced        Swift drops frames beyond `framerate` in front of it. videorate cannot: desktops tell no rate, and their frames
#              last for no time.
# frames       Frames out.
#
#: ${framerate:-15/1}  A fraction; the most that are taken.
#: ${pointer:-true}  Whether the mouse is seen, where the desktop can leave it out.
#
# Units: fd descriptor, node number, still ms, framerate frames/s, pointer true or false

pipewiresrc fd=${fd:--1} path=${node:-0} keepalive-time=${still:-500} always-copy=true do-timestamp=true
! video/x-raw
! videoconvert name=paced n-threads=1
! video/x-raw,format=I420
! appsink name=frames sync=false async=false max-buffers=3 drop=true

"""###,
    "capture/screen": ###"""
# A screen of this machine (X11), or one window of it.
#
# ximagesrc  The display `display`, such as :0; of it the window with the id `window`, or all of it where that is 0. `pointer`
#            says whether the mouse is to be seen.
# frames     Frames out, `framerate` (a fraction) of them.
#
# Units: display name, window id, pointer true or false, framerate frames/s

ximagesrc display-name=${display:-:0} xid=${window:-0} show-pointer=${pointer:-true} use-damage=false do-timestamp=true
! video/x-raw,framerate=${framerate:-15/1}
! videoconvert n-threads=1
! video/x-raw,format=I420
! appsink name=frames sync=false async=false max-buffers=3 drop=true

"""###,
    "capture/srt": ###"""
# A live stream over SRT, with its video, its audio, or both.
#
# srtsrc  Calls `location`, such as srt://host:9000?mode=caller, or waits for a caller at srt://:9000?mode=listener. It does not
#         try again by itself: the program does, and says so.
# source  Decodes it.
# frames  Frames out, when they are to be shown.
# split   Pieces of audio may be larger than those that are sent, and all but the beginning would be too early.
# pcm     Audio out, when it is to be heard.
#
# formats        Where decoding ends: of what can be sent as it is, the program puts that in front. A text without it is always
#                decoded.
# encoded        Frames out as they are, with their times.
# encoded-audio  Packets of Opus as they are.
#
# Units: location path or address, formats caps

srtsrc uri=${location} auto-reconnect=false ! decodebin name=source caps=${formats:-video/x-raw;audio/x-raw}
source. ! video/x-raw ! queue max-size-bytes=0 max-size-buffers=5 max-size-time=0
! videoconvert n-threads=1 ! video/x-raw,format=I420
! appsink name=frames sync=true async=false
source. ! audio/x-raw ! queue max-size-bytes=0 max-size-buffers=0 max-size-time=500000000
! audioconvert ! audioresample ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! audiobuffersplit output-buffer-duration=1/50
! appsink name=pcm sync=true async=false
source. ! video/x-h264;video/x-vp8;video/x-vp9 ! appsink name=encoded sync=true async=false
source. ! audio/x-opus ! appsink name=encoded-audio sync=true async=false

"""###,
    "capture/stdin-audio": ###"""
# Raw samples on standard input, which say nothing of themselves, at their pace.
#
# fdsrc          Reads the file descriptor `fd`.
# rawaudioparse  Samples of `format`, such as s16le or f32le, `rate` a second, of `channels` side by side.
# pcm            Audio out, in pieces of 20 ms, when it is to be heard.
#
# Units: fd number, rate Hz, channels count, format name

fdsrc fd=${fd:-0}
! rawaudioparse pcm-format=${format:-s16le} sample-rate=${rate:-48000} num-channels=${channels:-2}
! audioconvert ! audioresample ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! audiobuffersplit output-buffer-duration=1/50
! appsink name=pcm sync=true async=false

"""###,
    "capture/stdin-video": ###"""
# Raw frames on standard input, which say nothing of themselves, at their pace.
#
# fdsrc          Reads the file descriptor `fd`.
# rawvideoparse  Cuts frames of `width` x `height` in `format`, such as i420, nv12, yuy2, rgb or bgra, the rows of each plane
#                right behind each other; `framerate` of them (a fraction) are shown in a second.
# frames         Frames out, when they are to be shown.
#
# Units: fd number, width px, height px, format name, framerate frames/s

fdsrc fd=${fd:-0}
! rawvideoparse width=${width:-1280} height=${height:-720} format=${format:-i420} framerate=${framerate:-25/1}
! videoconvert n-threads=1 ! video/x-raw,format=I420
! appsink name=frames sync=true async=false

"""###,
    "capture/stdin": ###"""
# What comes on standard input, at its own pace: video, audio, or both, such as Matroska, MPEG-TS, Ogg, Y4M, WAV or H.264 as a
# byte stream.
#
# fdsrc   Reads the file descriptor `fd`.
# source  Finds out what it is, and decodes it.
# frames  Frames out, when they are to be shown.
# split   Pieces of audio may be larger than those that are sent, and all but the beginning would be too early.
# pcm     Audio out, when it is to be heard.
#
# formats        Where decoding ends: of what can be sent as it is, the program puts that in front. A text without it is always
#                decoded.
# encoded        Frames out as they are, with their times.
# encoded-audio  Packets of Opus as they are.
#
# Units: fd number, formats caps

fdsrc fd=${fd:-0} ! decodebin name=source caps=${formats:-video/x-raw;audio/x-raw}
source. ! video/x-raw ! queue max-size-bytes=0 max-size-buffers=5 max-size-time=0
! videoconvert n-threads=1 ! video/x-raw,format=I420
! appsink name=frames sync=true async=false
source. ! audio/x-raw ! queue max-size-bytes=0 max-size-buffers=0 max-size-time=500000000
! audioconvert ! audioresample ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! audiobuffersplit output-buffer-duration=1/50
! appsink name=pcm sync=true async=false
source. ! video/x-h264;video/x-vp8;video/x-vp9 ! appsink name=encoded sync=true async=false
source. ! audio/x-opus ! appsink name=encoded-audio sync=true async=false

"""###,
    "capture/tone": ###"""
# A test tone.
#
# audiotestsrc  `wave` (sine, ticks, pink-noise, ...) of `frequency` Hz at `volume` (0 to 1).
# pcm           Audio out.
#
# Units: wave word, frequency Hz, volume 0 to 1

audiotestsrc is-live=true do-timestamp=true wave=${wave:-sine} freq=${frequency:-440} volume=${volume:-0.3}
  samplesperbuffer=960
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! appsink name=pcm sync=false async=false

"""###,
    "decode/audio": ###"""
# Audio of what a source carries, where it is asked for.
#
# encoded    Packets in, as the source carries them.
# decodebin  The decoder that there is.
# pcm        Audio out, in pieces of 20 ms.
#
# Units: queue packets

appsrc name=encoded max-buffers=${queue:-200} max-bytes=0 caps="audio/x-opus"
! decodebin
! audioconvert ! audioresample ! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! audiobuffersplit output-buffer-duration=1/50
! appsink name=pcm sync=false async=false

"""###,
    "decode/video": ###"""
# Frames of what a source carries, where they are asked for.
#
# encoded    Frames in, as the source carries them.
# decodebin  The decoder that there is.
# frames     Frames out.
#
# Units: queue frames

appsrc name=encoded max-buffers=${queue:-100} max-bytes=0 caps="video/x-h264;video/x-vp8;video/x-vp9"
! decodebin
! videoconvert n-threads=1
! video/x-raw,format=I420
! appsink name=frames sync=false async=false

"""###,
    "encode/aac": ###"""
# AAC of 48 kHz stereo.
#
# pcm           Queue at most `audio-queue` stretches of audio; the oldest are dropped when the encoder does not keep up.
# audiorate     Fills holes with silence, from the first moment on since MP4 has no place for a track's late beginning, and
#               drops what comes twice. Audio that is off by less than 5 ms stays as it is.
# avenc_aac     `audio-bitrate` in kbit/s; the parser says that each buffer is a frame, which MPEG-TS wants to know.
# encoded       AAC frames out, `delay` ns earlier than the encoder says: it begins with 1024 samples of run-in, which
#               players that know no edit list would play. The caps are what this template is chosen by.
#
# Units: audio-queue buffers, audio-bitrate kbit/s, delay ns

appsrc name=pcm max-buffers=${audio-queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"
! audioconvert ! audiorate tolerance=5000000
! avenc_aac bitrate=${audio-bitrate:-128}000 ! aacparse
! appsink name=encoded sync=false ts-offset=-${delay:-21333333} caps="audio/mpeg,mpegversion=4,stream-format=raw"

"""###,
    "encode/av1": ###"""
# AV1 of frames of any size and turn.
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder
#               does not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has, and no rate is what live frames have. By a rate av1enc would round their times, and miss its bitrate.
# av1enc        `bitrate` in kbit/s; `speed` from 6 (better) to 10 (faster); a keyframe at least every `gop` frames. It takes
#               some times as long as VP9. Without the two quantizers GStreamer 1.22 leaves libaom no quality to choose from.
# encoded       Temporal units out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, speed level, bitrate kbit/s, gop frames
# Units: threads threads

appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=${queue-bytes:-200000000} leaky-type=downstream
  caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)0/1,interlace-mode=progressive"
! av1enc name=encoder usage-profile=realtime cpu-used=${speed:-10} end-usage=cbr target-bitrate=${bitrate:-2500}
  min-quantizer=2 max-quantizer=56 lag-in-frames=0 keyframe-max-dist=${gop:-50} threads=${threads:-2}
! av1parse
! appsink name=encoded sync=false caps="video/x-av1,stream-format=obu-stream,alignment=tu"

"""###,
    "encode/h264-archive": ###"""
# H.264 of frames of any size and turn, of one quality instead of one bitrate: for files that are kept.
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder
#               does not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has, and no rate is what live frames have.
# x264enc       `quantizer` is the quality, from 1 (best) to 50; 18 looks like what was sent, 6 more is half the size. At most
#               `max-bitrate` kbit/s. `preset` from ultrafast to slower, which makes smaller files and takes longer; a
#               keyframe at least every `gop` frames. With min-keyint it makes no frame that looks like a keyframe and is
#               none.
# parser        Puts the parameter sets in front of every keyframe too, so that it can follow H.264 of somebody else.
# encoded       Access units out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, quantizer 1 to 50, max-bitrate kbit/s,
# Units: preset word, gop frames

appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=${queue-bytes:-200000000} leaky-type=downstream
  caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)0/1,interlace-mode=progressive"
! x264enc pass=qual quantizer=${quantizer:-18} bitrate=${max-bitrate:-50000} speed-preset=${preset:-medium} tune=zerolatency
  key-int-max=${gop:-250} option-string=min-keyint=1
! video/x-h264,profile=high ! h264parse config-interval=-1
! appsink name=encoded sync=false caps="video/x-h264,stream-format=avc,alignment=au"

"""###,
    "encode/h264-low-latency": ###"""
# H.264 of frames of any size and turn, as soon as it can be: for calls and games rather than files.
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder
#               does not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has. `framerate` is what frames come at, where that is known: without one (0/1) the encoder keeps each
#               frame until the next one has come.
# x264enc       `bitrate` in kbit/s, which is kept within `vbv` ms, so that no frame waits behind a large one; `preset` from
#               ultrafast to slower; each frame is cut into slices that `threads` threads encode at once; a keyframe at
#               least every `gop` frames. With min-keyint it makes no frame that looks like a keyframe and is none.
# parser        Puts the parameter sets in front of every keyframe too, so that it can follow H.264 of somebody else.
# encoded       Access units out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, bitrate kbit/s, vbv ms, preset word, gop frames,
# Units: threads threads, framerate frames/s

appsrc name=frames max-buffers=${frame-queue:-3} max-bytes=${queue-bytes:-200000000} leaky-type=downstream
  caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)${framerate:-0/1},interlace-mode=progressive"
! x264enc name=encoder bitrate=${bitrate:-2500} vbv-buf-capacity=${vbv:-200} speed-preset=${preset:-superfast} tune=zerolatency
  key-int-max=${gop:-50} sliced-threads=true threads=${threads:-2} option-string=min-keyint=1
! video/x-h264,profile=constrained-baseline ! h264parse config-interval=-1
! appsink name=encoded sync=false caps="video/x-h264,stream-format=avc,alignment=au"

"""###,
    "encode/h264-nvenc": ###"""
# H.264 of frames of any size and turn, by an NVIDIA GPU (NVENC).
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder
#               does not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has, and no rate is what live frames have.
# nvh264enc     `bitrate` in kbit/s, constant; `preset` is default, hp, hq, low-latency, low-latency-hq or low-latency-hp;
#               a keyframe at least every `gop` frames, and no B-frames. It is there only where the GPU and NVIDIA's
#               driver are.
# The properties are those of the element's documentation; it was not run where this was written, for want of hardware.
# parser        Puts the parameter sets in front of every keyframe too, so that it can follow H.264 of somebody else.
# encoded       Access units out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, bitrate kbit/s, preset word, gop frames

appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=${queue-bytes:-200000000} leaky-type=downstream
  caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=NV12,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)0/1,interlace-mode=progressive"
! nvh264enc name=encoder rc-mode=cbr bitrate=${bitrate:-2500} preset=${preset:-low-latency-hq} gop-size=${gop:-50} bframes=0
  zerolatency=true
! video/x-h264,profile=main ! h264parse config-interval=-1
! appsink name=encoded sync=false caps="video/x-h264,stream-format=avc,alignment=au"

"""###,
    "encode/h264-openh264": ###"""
# H.264 of frames of any size and turn, by OpenH264 instead of x264: as soon as it can be, and what browsers encode with.
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder
#               does not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has. `framerate` is what frames come at, as far as it is known: the encoder learns from their times how
#               far that is true, but without any it would begin with too much. Nobody else is told of it.
# openh264enc   `bitrate` in kbit/s; `complexity` is low, medium or high; a keyframe at least every `gop` frames, and none for
#               another scene, which only costs more then. It leaves out no frame to keep the bitrate.
# parser        Puts the parameter sets in front of every keyframe too, so that it can follow H.264 of somebody else.
# encoded       Access units out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, bitrate kbit/s, complexity word, gop frames,
# Units: threads threads, framerate frames/s

appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=${queue-bytes:-200000000} leaky-type=downstream
  caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)${framerate:-30/1},interlace-mode=progressive"
! openh264enc name=encoder bitrate=${bitrate:-2500}000 rate-control=bitrate complexity=${complexity:-low} gop-size=${gop:-50}
  multi-thread=${threads:-2} slice-mode=auto scene-change-detection=false enable-frame-skip=false
! video/x-h264,profile=constrained-baseline
! capssetter caps="video/x-h264,framerate=(fraction)0/1" ! h264parse config-interval=-1
! appsink name=encoded sync=false caps="video/x-h264,stream-format=avc,alignment=au"

"""###,
    "encode/h264-v4l2": ###"""
# H.264 of frames of any size and turn, by a codec of the kernel (V4L2), such as that of a Raspberry Pi 4.
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder
#               does not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has, and no rate is what live frames have.
# v4l2h264enc   `bitrate` in kbit/s; a keyframe every `gop` frames; the parameter sets come with each of them. It is there
#               only where the kernel has such a device, and wants to be told a level and a rate of frames, which
#               changes nothing of when they come.
# The properties are those of the element's documentation; it was not run where this was written, for want of hardware.
# parser        Puts the parameter sets in front of every keyframe too, so that it can follow H.264 of somebody else.
# encoded       Access units out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, bitrate kbit/s, gop frames, level level of H.264

appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=${queue-bytes:-200000000} leaky-type=downstream
  caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)30/1,interlace-mode=progressive"
! v4l2h264enc extra-controls="controls,video_bitrate=${bitrate:-2500}000,h264_i_frame_period=${gop:-50},repeat_sequence_header=1"
! video/x-h264,profile=main,level=(string)${level:-4} ! h264parse config-interval=-1
! appsink name=encoded sync=false caps="video/x-h264,stream-format=avc,alignment=au"

"""###,
    "encode/h264-vaapi": ###"""
# H.264 of frames of any size and turn, by a GPU through VA-API (Intel, AMD).
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder
#               does not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has, and no rate is what live frames have.
# vah264enc     `bitrate` in kbit/s, constant; `target-usage` from 1 (better) to 7 (faster); a keyframe at least every `gop`
#               frames, and no B-frames. It takes NV12, and is there only where the GPU and its driver are
#               (`va-driver-all`).
# The properties are those of the element's documentation; it was not run where this was written, for want of hardware.
# parser        Puts the parameter sets in front of every keyframe too, so that it can follow H.264 of somebody else.
# encoded       Access units out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, bitrate kbit/s, target-usage 1 to 7, gop frames

appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=${queue-bytes:-200000000} leaky-type=downstream
  caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=NV12,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)0/1,interlace-mode=progressive"
! vah264enc name=encoder rate-control=cbr bitrate=${bitrate:-2500} target-usage=${target-usage:-4} key-int-max=${gop:-50} b-frames=0
! video/x-h264,profile=main ! h264parse config-interval=-1
! appsink name=encoded sync=false caps="video/x-h264,stream-format=avc,alignment=au"

"""###,
    "encode/h264": ###"""
# H.264 of frames of any size and turn.
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder does
#               not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has, and no rate is what live frames have.
# x264enc       `bitrate` in kbit/s; `preset` from ultrafast to slower; a keyframe at least every `gop` frames. With
#               min-keyint it makes no frame that looks like a keyframe and is none, as it does soon behind one. Each frame
#               is cut into `slices` that are encoded at once: 1 looks best and costs least, and is set up to 1280x720;
#               0 is what the processors allow.
# parser        Puts the parameter sets in front of every keyframe too, so that it can follow H.264 of somebody else.
# encoded       Access units out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, bitrate kbit/s, preset word, gop frames
# Units: slices slices

appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=${queue-bytes:-200000000} leaky-type=downstream caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)0/1,interlace-mode=progressive"
! x264enc name=encoder bitrate=${bitrate:-2500} speed-preset=${preset:-superfast} tune=zerolatency key-int-max=${gop:-50}
  threads=${slices:-0} option-string=min-keyint=1
! video/x-h264,profile=main ! h264parse config-interval=-1
! appsink name=encoded sync=false caps="video/x-h264,stream-format=avc,alignment=au"

"""###,
    "encode/mp3": ###"""
# MP3 of 48 kHz stereo.
#
# pcm           Queue at most `audio-queue` stretches of audio; the oldest are dropped when the encoder does not keep up.
# audiorate     Fills holes with silence, and drops what comes twice. Audio that is off by less than 5 ms stays as it is.
# lamemp3enc    Constant `audio-bitrate` in kbit/s, of those that MP3 has.
# encoded       Frames out; the caps are what this template is chosen by. Nothing is taken off for the 23 ms of run-in, with
#               which a decoder begins: the frames behind it cannot be decoded without it.
#
# Units: audio-queue buffers, audio-bitrate kbit/s

appsrc name=pcm max-buffers=${audio-queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"
! audioconvert ! audiorate tolerance=5000000
! lamemp3enc target=bitrate cbr=true bitrate=${audio-bitrate:-128}
! appsink name=encoded sync=false caps="audio/mpeg,mpegversion=1,layer=3"

"""###,
    "encode/opus": ###"""
# Opus of 48 kHz stereo.
#
# pcm           Queue at most `audio-queue` stretches of audio; the oldest are dropped when the encoder does not keep up.
# opusenc       `audio-bitrate` in kbit/s, in packets of 20 ms; with `dtx` next to nothing while it is silent.
# encoded       Packets out; the caps are what this template is chosen by.
#
# Units: audio-queue buffers, audio-bitrate kbit/s, dtx true or false

appsrc name=pcm max-buffers=${audio-queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"
! opusenc bitrate=${audio-bitrate:-128}000 frame-size=20 dtx=${dtx:-false}
! appsink name=encoded sync=false caps="audio/x-opus"

"""###,
    "encode/vp8": ###"""
# VP8 of frames of any size and turn.
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder does
#               not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has, and no rate is what live frames have.
# vp8enc        `bitrate` in kbit/s; `cpu-used` from 1 (better) to 16 (faster), slower where there is time for it, or from -1
#               to -16 always the same; a keyframe at least every `gop` frames.
# encoded       Frames out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, cpu-used speed -16 to 16, bitrate kbit/s, gop frames
# Units: threads threads

appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=${queue-bytes:-200000000} leaky-type=downstream caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)0/1,interlace-mode=progressive"
! vp8enc name=encoder deadline=1 cpu-used=${cpu-used:-8} end-usage=cbr target-bitrate=${bitrate:-2500}000
  keyframe-max-dist=${gop:-50} threads=${threads:-2}
! appsink name=encoded sync=false caps="video/x-vp8"

"""###,
    "encode/vp9": ###"""
# VP9 of frames of any size and turn.
#
# frames        Queue at most `frame-queue` frames of `queue-bytes` bytes together; the oldest are dropped when the encoder
#               does not keep up.
# videoflip     Turns frames upright, as the sender says (tag image-orientation).
# scaling       The video keeps one size, `width` x `height`, with black bars where the shape differs.
# colorimetry   and capssetter: the video has one description, whatever the decoder says of its frames; BT.601 is what
#               VP8 has, and no rate is what live frames have.
# vp9enc        `bitrate` in kbit/s; `speed` from 5 (better) to 9 (faster); a keyframe at least every `gop` frames.
# encoded       Frames out; the caps are what this template is chosen by.
#
# Units: frame-queue frames, queue-bytes bytes, width px, height px, speed level, bitrate kbit/s, gop frames
# Units: threads threads

appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=${queue-bytes:-200000000} leaky-type=downstream
  caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale add-borders=true n-threads=1
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1,colorimetry=bt601
! capssetter caps="video/x-raw,framerate=(fraction)0/1,interlace-mode=progressive"
! vp9enc name=encoder deadline=1 cpu-used=${speed:-8} end-usage=cbr target-bitrate=${bitrate:-2500}000 lag-in-frames=0
  keyframe-max-dist=${gop:-50} threads=${threads:-2}
! appsink name=encoded sync=false caps="video/x-vp9"

"""###,
    "mix/audio": ###"""
# Mixes the audio of a room.
#
# audiomix       Swift adds an input for each track, made of the template tile/audio, and removes it again. A moment is
#                mixed `audio-delay` ns after it was: what has come by then is heard at its time, and what comes later is
#                left out, as on a machine that is too busy for a moment. A frame that comes late is seen late, while audio
#                would be missing: hence more than for frames. Less makes a live stream quicker. Times that stray from the
#                samples that were heard by more than `alignment` ns are put right at once.
# limiter        Bends what many voices together would clip, above half of full scale; what is softer stays as it is.
# pcm            Audio out.
# audiotestsrc   Silence keeps the mixer going while nobody sends anything.
#
# Units: audio-delay ns, alignment ns, limiter true or false

audiomixer name=audiomix start-time-selection=first latency=${audio-delay:-1000000000} alignment-threshold=${alignment:-10000000}
  discont-wait=0 output-buffer-duration=20000000
! audio/x-raw,format=F32LE,layout=interleaved,rate=48000,channels=2
! rglimiter enabled=${limiter:-true}
! audioconvert
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! appsink name=pcm sync=false async=false
audiotestsrc is-live=true do-timestamp=true wave=silence samplesperbuffer=960
! audio/x-raw,format=F32LE,layout=interleaved,rate=48000,channels=2
! queue ! audiomix.

"""###,
    "mix/video": ###"""
# Mixes the frames of a room into one, for a room composite.
#
# videomix       Swift adds an input for each tile, made of the template tile/video, sets its place (`xpos`, `ypos`,
#                `width`, `height`, `zorder`, `sizing-policy`, `alpha`), and removes it again. A moment is mixed `delay` ns
#                after it was: what has come by then is seen at its time, and what has not holds up nobody; its last frame
#                stays. A background that is not black is the lowest tile.
# logo           An image above all tiles, where one is asked for: Swift sets `location`, `alpha`, `offset-x`, `offset-y`,
#                `overlay-width` and `overlay-height`.
# caption        What people are told: the label of the whole frame and, below it, captions of what is said. Swift sets
#                `text` and `silent`. `label-font` is for a frame that is 640 wide, and goes with the width, as it does for
#                labels of a tile; lines of captions have up to 42 letters.
# frames         Frames out, `width` x `height`, `framerate` a second (a fraction), in the colours that most cameras are sent
#                in, so that none are converted. When what follows does not keep up the mixer waits, and leaves out frames.
# videotestsrc   A dark corner under the tiles keeps the mixer going while there is none.
#
# Units: delay ns, width px, height px, framerate frames/s, label-font Pango font

compositor name=videomix background=black start-time-selection=first latency=${delay:-300000000}
! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},framerate=${framerate:-30/1},pixel-aspect-ratio=1/1,colorimetry=bt601
! gdkpixbufoverlay name=logo
! textoverlay name=caption silent=true font-desc=${label-font:-Sans 16}
  halignment=center valignment=bottom ypad=20 shaded-background=true
! appsink name=frames sync=false async=false
videotestsrc is-live=true do-timestamp=true pattern=black
! video/x-raw,format=I420,width=16,height=16,framerate=${framerate:-30/1},colorimetry=bt601
! queue ! videomix.

"""###,
    "output/h264": ###"""
# H.264 byte stream (Annex B) without a container, which has no times; video only.
#
# video         Queues at most `queue` frames; the oldest are dropped when the disk does not keep up. The caps say what goes
#               in: a track as it was sent, or else encoded. A player shows the frames at a rate of its own; .ts, .mkv and
#               .mp4 keep their times.
# filesink      Nothing is held back in memory.
#
# Units: queue buffers, location path or address

appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=byte-stream,alignment=au"
! filesink location=${location} buffer-mode=unbuffered

"""###,
    "output/hls-fmp4": ###"""
# HLS playlist with segments of fragmented MP4 (CMAF), H.264 and AAC.
#
# video, audio  Queue at most `queue` buffers; the oldest are dropped when the disk does not keep up. The caps say what
#               goes in: a track as it was sent, or else encoded.
# mux           Fragments of `fragment` ms; in a segment the audio reaches beyond the video by that much at most.
# segments      Swift makes the files NAME_00000.m4s, NAME_00001.m4s … of it, NAME_init.mp4, which goes in front of each, and
#               the playlist NAME.m3u8.
#
#: ${segment-duration:-4}     Seconds of a segment, each from a keyframe to the next, which senders and encoders are told.
#: ${playlist:-event}         `event` lists all and plays on demand when it has ended, `live` lists the newest.
#: ${live-segments:-5}        Segments that a live playlist lists.
#: ${delete-segments:-false}  `true` removes a live playlist's old segments.
#: ${live-playlist:-}         The name of a live playlist beside an event playlist; empty for none.
#: ${filename-suffix:-index}  `index` counts segments, `timestamp` says when each began: NAME_20060102150405000, UTC.
#
# Units: segment-duration s, playlist word, live-segments segments, delete-segments true or false
# Units: live-playlist file name, filename-suffix word, fragment ms, queue buffers

mp4mux name=mux fragment-duration=${fragment:-200} streamable=true
! appsink name=segments sync=false
appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=avc,alignment=au"
! mux.video_0
appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw"
! mux.audio_0

"""###,
    "output/hls-low-latency": ###"""
# HLS playlist with short MPEG-TS segments of H.264 and AAC, for players that are to be soon behind.
#
# video, audio  Queue at most `queue` buffers; the oldest are dropped when the disk does not keep up. The caps say what
#               goes in: a track as it was sent, or else encoded.
# mux           All that is there goes on at once, so that nothing of the next segment comes with the last one.
# segments      Swift makes the files NAME_00000.ts, NAME_00001.ts … of it, and the playlist NAME.m3u8.
#
#: ${segment-duration:-1}     Seconds of a segment, each from a keyframe to the next, which senders and encoders are told.
#: ${playlist:-live}          `event` lists all and plays on demand when it has ended, `live` lists the newest.
#: ${live-segments:-6}        Segments that a live playlist lists.
#: ${delete-segments:-true}   `true` removes a live playlist's old segments.
#: ${live-playlist:-}         The name of a live playlist beside an event playlist; empty for none.
#: ${filename-suffix:-index}  `index` counts segments, `timestamp` says when each began: NAME_20060102150405000, UTC.
#
# Units: segment-duration s, playlist word, live-segments segments, delete-segments true or false
# Units: live-playlist file name, filename-suffix word, queue buffers

mpegtsmux name=mux alignment=0
! appsink name=segments sync=false
appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=byte-stream,alignment=au"
! mux.
appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw"
! mux.

"""###,
    "output/hls": ###"""
# HLS playlist with MPEG-TS segments of H.264 and AAC.
#
# video, audio  Queue at most `queue` buffers; the oldest are dropped when the disk does not keep up. The caps say what
#               goes in: a track as it was sent, or else encoded.
# mux           All that is there goes on at once, so that nothing of the next segment comes with the last one.
# segments      Swift makes the files NAME_00000.ts, NAME_00001.ts … of it, and the playlist NAME.m3u8.
#
#: ${segment-duration:-4}     Seconds of a segment, each from a keyframe to the next, which senders and encoders are told.
#: ${playlist:-event}         `event` lists all and plays on demand when it has ended, `live` lists the newest.
#: ${live-segments:-5}        Segments that a live playlist lists.
#: ${delete-segments:-false}  `true` removes a live playlist's old segments.
#: ${live-playlist:-}         The name of a live playlist beside an event playlist; empty for none.
#: ${filename-suffix:-index}  `index` counts segments, `timestamp` says when each began: NAME_20060102150405000, UTC.
#
# Units: segment-duration s, playlist word, live-segments segments, delete-segments true or false
# Units: live-playlist file name, filename-suffix word, queue buffers

mpegtsmux name=mux alignment=0
! appsink name=segments sync=false
appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=byte-stream,alignment=au"
! mux.
appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw"
! mux.

"""###,
    "output/images-png": ###"""
# PNG images of the video, one every few seconds.
#
# video          Frames in; at most `queue` wait, and the oldest are dropped when the disk does not keep up.
# videoflip      Turns frames upright, as the sender says (tag image-orientation).
# scaling        Images are `image-height` pixels high, and as wide as the shape of the video asks.
# pngenc         `compression` from 0 to 9, which costs time and no quality.
# segments       Swift makes the files NAME_00000.png, NAME_00001.png … of it, and NAME.png, which is always the newest.
#
#: ${capture-interval:-10}    Seconds from one image to the next: a frame goes in as often, from the first one on.
#: ${filename-suffix:-index}  `index` counts images, `timestamp` has the UTC of each (20060102150405000), `none` the newest only.
#
# Units: capture-interval s, filename-suffix word, queue buffers, image-height px, compression level 0 to 9

appsrc name=video max-buffers=${queue:-3} max-bytes=0 leaky-type=downstream caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale n-threads=1
! video/x-raw,height=${image-height:-360},pixel-aspect-ratio=1/1
! pngenc compression-level=${compression:-6}
! appsink name=segments sync=false

"""###,
    "output/images": ###"""
# JPEG images of the video, one every few seconds.
#
# video          Frames in; at most `queue` wait, and the oldest are dropped when the disk does not keep up.
# videoflip      Turns frames upright, as the sender says (tag image-orientation).
# scaling        Images are `image-height` pixels high, and as wide as the shape of the video asks.
# jpegenc        `quality` up to 100.
# segments       Swift makes the files NAME_00000.jpg, NAME_00001.jpg … of it, and NAME.jpg, which is always the newest.
#
#: ${capture-interval:-10}    Seconds from one image to the next: a frame goes in as often, from the first one on.
#: ${filename-suffix:-index}  `index` counts images, `timestamp` has the UTC of each (20060102150405000), `none` the newest only.
#
# Units: capture-interval s, filename-suffix word, queue buffers, image-height px, quality 0 to 100

appsrc name=video max-buffers=${queue:-3} max-bytes=0 leaky-type=downstream caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale n-threads=1
! video/x-raw,height=${image-height:-360},pixel-aspect-ratio=1/1
! jpegenc quality=${quality:-85}
! appsink name=segments sync=false

"""###,
    "output/ivf": ###"""
# IVF file, the frames of VP8 or VP9 with their times; video only.
#
# video         Queues at most `queue` frames; the oldest are dropped when the disk does not keep up. The caps say what goes
#               in: a track as it was sent, or else encoded into the first of them.
# avmux_ivf     The header says how many frames there are once the file is complete; one that is killed plays up to there.
# filesink      Nothing is held back in memory.
#
# Units: queue buffers, location path or address

appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream caps="video/x-vp8;video/x-vp9"
! avmux_ivf
! filesink location=${location} buffer-mode=unbuffered

"""###,
    "output/mkv": ###"""
# Matroska file: VP8, VP9, H.264 or AV1 and Opus.
#
# video, audio  Queue at most `queue` buffers; the oldest are dropped when the disk does not keep up. The caps say what
#               goes in: a track as it was sent, or else encoded into the first of them.
# audio-N       The same of each participant that has a track of its own: audio-2, audio-3 and so on.
# captions      What is said, as text: a track of subtitles where captions are asked for, which nothing waits for.
# mux           Starts a new cluster after `cluster` ns; a kill loses at most the last one. The index has an entry a second
#               at most: of audio alone each packet would get one.
# filesink      Nothing is held back in memory.
#
# Units: cluster ns, location path or address, queue buffers

matroskamux name=mux offset-to-zero=true min-cluster-duration=${cluster:-1000000000} max-cluster-duration=${cluster:-1000000000}
  min-index-interval=1000000000
! filesink location=${location} buffer-mode=unbuffered
appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=avc,alignment=au;video/x-vp8;video/x-vp9;video/x-av1,stream-format=obu-stream,alignment=tu"
! mux.video_0
appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream caps="audio/x-opus"
! mux.audio_0
appsrc name=audio-N max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream caps="audio/x-opus"
! mux.audio_N
appsrc name=captions max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream caps="text/x-raw,format=utf8"
! mux.subtitle_0

"""###,
    "output/mp3": ###"""
# MP3 file, audio only.
#
# audio         Queues at most `queue` buffers; the oldest are dropped when the disk does not keep up.
# filesink      MP3 needs no container: a file that is killed plays up to there. Nothing is held back in memory.
#
# Units: queue buffers, location path or address

appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=1,layer=3"
! filesink location=${location} buffer-mode=unbuffered

"""###,
    "output/mp4-opus": ###"""
# MP4 file: H.264 and Opus.
#
# video, audio  Queue at most `queue` buffers; the oldest are dropped when the disk does not keep up. The caps say what
#               goes in: a track as it was sent, or else encoded.
# audio-N       The same of each participant that has a track of its own: audio-2, audio-3 and so on.
# mux           Writes a fragment every `fragment` ms; a kill loses at most the fragment that was being collected, and of
#               a full disk the part that found no room is cut. `fragment-mode` dash-or-mss keeps each fragment behind
#               an index of its own, with a list of them in the end by which players seek. first-moov-then-finalise makes
#               an ordinary file with one index of it in the end; but before that, and so after a kill, GStreamer 1.22
#               leaves frames without their times in it.
# filesink      Nothing is held back in memory.
#
# Units: fragment ms, fragment-mode word, location path or address, queue buffers

mp4mux name=mux fragment-duration=${fragment:-1000} fragment-mode=${fragment-mode:-dash-or-mss}
! filesink location=${location} buffer-mode=unbuffered
appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=avc,alignment=au"
! mux.video_0
appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream caps="audio/x-opus"
! mux.audio_0
appsrc name=audio-N max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream caps="audio/x-opus"
! mux.audio_N

"""###,
    "output/mp4": ###"""
# MP4 file of H.264 and AAC.
#
# video, audio  Queue at most `queue` buffers; the oldest are dropped when the disk does not keep up. The caps say what
#               goes in: a track as it was sent, or else encoded.
# audio-N       The same of each participant that has a track of its own: audio-2, audio-3 and so on.
# mux           Writes a fragment every `fragment` ms; a kill loses at most the fragment that was being collected, and of
#               a full disk the part that found no room is cut. `fragment-mode` dash-or-mss keeps each fragment behind
#               an index of its own, with a list of them in the end by which players seek. first-moov-then-finalise makes
#               an ordinary file with one index of it in the end; but before that, and so after a kill, GStreamer 1.22
#               leaves frames without their times in it.
# filesink      Nothing is held back in memory.
#
# Units: fragment ms, fragment-mode word, location path or address, queue buffers

mp4mux name=mux fragment-duration=${fragment:-1000} fragment-mode=${fragment-mode:-dash-or-mss}
! filesink location=${location} buffer-mode=unbuffered
appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=avc,alignment=au"
! mux.video_0
appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw"
! mux.audio_0
appsrc name=audio-N max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw"
! mux.audio_N

"""###,
    "output/ogg": ###"""
# Ogg file of Opus, audio only.
#
# audio         Queues at most `queue` buffers; the oldest are dropped when the disk does not keep up. The caps say what goes
#               in: Opus as it was sent.
# mux           Ends a page after `page` ns; a kill loses at most the last one.
# filesink      Nothing is held back in memory.
#
# Units: page ns, location path or address, queue buffers

oggmux name=mux max-page-delay=${page:-500000000}
! filesink location=${location} buffer-mode=unbuffered
appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream caps="audio/x-opus"
! opusparse ! mux.

"""###,
    "output/playback": ###"""
# Plays the audio of all subscribed tracks, mixed, on an audio device.
#
# audiomix   Each track is an input of its own. A moment is mixed `delay` ns after it arrived at the earliest, and not
#            later: what comes by then is heard at its time, what comes later is left out, and a track that sends nothing
#            holds up nobody. What of a track comes later than that is played later, up to half a second behind its
#            moment, and less so again in its pauses once it has come in time for some seconds. Larger: fewer holes
#            before that. Smaller: less delay. Times that stray from the samples that were heard by more than
#            `alignment` ns, after a pause or because two clocks drift apart, are put right at once.
# mix        48 kHz stereo, whatever the tracks have; the device gets what it likes.
# sink       A device's sink: pulsesink (PulseAudio or PipeWire), alsasink, jackaudiosink, openalsink or osssink. Without
#            a value it is pulsesink where a sound server is, else alsasink, and where there is no device nothing plays.
#            Another kind of sink, such as filesink, takes a template of its own in which it stands without this variable.
# device     `device-buffer` µs of audio wait in the device, which fetches `device-period` µs at a time. Its clock and ours
#            drift apart; what adds up to more than `drift` µs is skipped or held (`slave-method` resample stretches the
#            audio instead), so that the delay stays the same for hours.
#
# Units: delay ns, alignment ns, sink element, device-buffer µs, device-period µs, slave-method word, drift µs

audiomixer name=audiomix force-live=true latency=${delay:-100000000} alignment-threshold=${alignment:-40000000} discont-wait=0
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! audioconvert ! audioresample
! ${sink:-pulsesink} buffer-time=${device-buffer:-60000} latency-time=${device-period:-10000}
  slave-method=${slave-method:-skew} drift-tolerance=${drift:-40000}

"""###,
    "output/rtmp": ###"""
# Live stream of H.264 and AAC to an RTMP server: rtmp://HOST/APP/KEY, or rtmps:// with TLS.
#
# video, audio   Queue at most `queue` frames and `audio-queue` pieces of audio, some 10 s each, for a server or a network
#                that is slow for a moment; then frames are dropped up to the next keyframe. The caps say what goes in: a
#                track as it was sent, or else encoded.
# mux            FLV without an index.
# rtmp2sink      `chunk` bytes a message at most before another one may come between. For rtmps:// GIO does TLS, which is the
#                Debian package glib-networking; `tls-validation-flags` of the element says which certificates are refused.
#
#: ${keyframe-interval:-4}  Seconds from one keyframe to the next at most, as servers and players want them.
#
# Units: keyframe-interval s, location path or address, chunk bytes, queue buffers, audio-queue buffers

flvmux name=mux streamable=true
! rtmp2sink location=${location} chunk-size=${chunk:-4096} sync=false
appsrc name=video max-buffers=${queue:-250} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=avc,alignment=au"
! mux.video
appsrc name=audio max-buffers=${audio-queue:-500} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw"
! mux.audio

"""###,
    "output/srt": ###"""
# Live stream of H.264 and AAC as MPEG-TS over SRT: srt://HOST:PORT, or srt://:PORT?mode=listener.
#
# video, audio   Queue at most `queue` frames and `audio-queue` pieces of audio, some 10 s each, for a network that is slow
#                for a moment; then frames are dropped up to the next keyframe. The caps say what goes in: a track as it was
#                sent, or else encoded.
# mux            Seven packets of MPEG-TS fill a packet of SRT.
# srtsink        The address may say `mode`, `passphrase`, `pbkeylen`, `streamid` and `latency` (ms). As a listener it sends
#                to all who call, and to nobody until somebody does. It does not reconnect by itself, since it would not
#                tell that it was refused.
#
#: ${keyframe-interval:-2}  Seconds from one keyframe to the next at most, for which who tunes in waits.
#
# Units: keyframe-interval s, location path or address, queue buffers, audio-queue buffers

mpegtsmux name=mux alignment=7
! srtsink uri=${location} sync=false auto-reconnect=false wait-for-connection=false
appsrc name=video max-buffers=${queue:-250} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=byte-stream,alignment=au"
! mux.
appsrc name=audio max-buffers=${audio-queue:-500} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw"
! mux.

"""###,
    "output/ts": ###"""
# MPEG-TS file of H.264 and AAC.
#
# video, audio  Queue at most `queue` buffers; the oldest are dropped when the disk does not keep up. The caps say what
#               goes in: a track as it was sent, or else encoded.
# mux           Has no index: a file that is killed plays up to there.
# filesink      Nothing is held back in memory.
#
# Units: location path or address, queue buffers

mpegtsmux name=mux
! filesink location=${location} buffer-mode=unbuffered
appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=byte-stream,alignment=au"
! mux.
appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw"
! mux.

"""###,
    "output/udp": ###"""
# Live stream of H.264 and AAC as MPEG-TS over UDP: udp://HOST:PORT.
#
# video, audio   Queue at most `queue` frames and `audio-queue` pieces of audio; the oldest are dropped when the network does
#                not keep up. The caps say what goes in: a track as it was sent, or else encoded.
# mux            Seven packets of MPEG-TS fill a datagram.
# udpsink        To `host` and `port`, whether somebody listens or not; a group is reached over `ttl` routers at most.
#
#: ${keyframe-interval:-2}  Seconds from one keyframe to the next at most, for which who tunes in waits.
#
# Units: keyframe-interval s, host name or address, port number, ttl hops, queue buffers, audio-queue buffers

mpegtsmux name=mux alignment=7
! udpsink host=${host} port=${port} ttl-mc=${ttl:-1} sync=false
appsrc name=video max-buffers=${queue:-250} max-bytes=0 leaky-type=downstream
  caps="video/x-h264,stream-format=byte-stream,alignment=au"
! mux.
appsrc name=audio max-buffers=${audio-queue:-500} max-bytes=0 leaky-type=downstream
  caps="audio/mpeg,mpegversion=4,stream-format=raw"
! mux.

"""###,
    "output/wav": ###"""
# WAV file of PCM, 16 bit, 48 kHz, stereo; audio only.
#
# audio         Queues at most `queue` blocks of audio; the oldest are dropped when the disk does not keep up.
# audiorate     PCM has no times: holes are filled with silence, and what comes twice is dropped. Audio that is off by less
#               than 5 ms stays as it is.
# wavenc        The file's header says how long it is, in 32 bits: after six hours the recording goes on in another file.
# filesink      Nothing is held back in memory.
#
# Units: queue buffers, location path or address

appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2"
! audiorate tolerance=5000000
! wavenc
! filesink location=${location} buffer-mode=unbuffered

"""###,
    "output/webm": ###"""
# WebM file: VP8, VP9 or AV1 and Opus.
#
# video, audio  Queue at most `queue` buffers; the oldest are dropped when the disk does not keep up. The caps say what
#               goes in: a track as it was sent, or else encoded into the first of them.
# mux           Starts a new cluster after `cluster` ns; a kill loses at most the last one. The index has an entry a second
#               at most: of audio alone each packet would get one.
# filesink      Nothing is held back in memory.
#
# Units: cluster ns, location path or address, queue buffers

webmmux name=mux offset-to-zero=true min-cluster-duration=${cluster:-1000000000} max-cluster-duration=${cluster:-1000000000}
  min-index-interval=1000000000
! filesink location=${location} buffer-mode=unbuffered
appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
  caps="video/x-vp8;video/x-vp9;video/x-av1,stream-format=obu-stream,alignment=tu"
! mux.video_0
appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream caps="audio/x-opus"
! mux.audio_0

"""###,
    "output/window-grid": ###"""
# Desktop window of tiles (X11), one for each track of a room; `mediabridge view` shows it.
#
# videomix       Swift adds an input for each tile, made of the template window-tile, sets its place (`xpos`, `ypos`,
#                `width`, `height`), and removes it again.
# size           `width` x `height` until the window has another size, which Swift sets in these caps; `framerate`
#                frames a second (a fraction), however many the tracks have.
# taginject      The window's title is `title`.
# window         The sink, as in the template window; the name is the contract.
# videotestsrc   A black corner under the tiles keeps the window going while there is none; its queue lets the mixer
#                wait for the others.
#
# Units: width px, height px, framerate frames/s, title text

compositor name=videomix background=black start-time-selection=first
! capsfilter name=size
  caps=video/x-raw,width=${width:-1280},height=${height:-720},framerate=${framerate:-25/1},pixel-aspect-ratio=1/1
! taginject tags=title=${title:-mediabridge}
! ximagesink name=window sync=false async=false qos=false
videotestsrc is-live=true do-timestamp=true pattern=black
! video/x-raw,format=I420,width=16,height=16,framerate=${framerate:-25/1}
! queue ! videomix.

"""###,
    "output/window": ###"""
# Desktop window for the frames of one track (X11), which VideoView fills.
#
# video          Frames in, of any size; at most `queue` wait, and the oldest are dropped when the display is slow.
# upright        Turns frames upright, as the sender says (tag image-orientation), or as VideoView.rotationOverride does.
# mirror         Flips them from left to right where VideoView.mirrorMode has it so, and passes them on otherwise.
# crop           Cuts frames to the window's shape when they are to fill it: Swift sets `aspect-ratio`, 0/1 for none.
# scaling        Brings frames to the window's size, with black bars where the shape differs.
# size           `width` x `height` until the window has another size, which Swift sets in these caps.
# debug          Text over the frame, silent unless VideoView.isDebugMode; `font` as Pango writes it.
# taginject      The window's title is `title`.
# window         The sink; the name is the contract. Frames are shown as they come: with `sync` they would wait, and
#                with `qos` those would be dropped that took long over the network. Swift follows `window-width` and
#                `window-height` whenever the sink asks for another format; another sink may stand here (xvimagesink
#                also says its size; one that does not keeps the size above).
#
# Units: queue buffers, width px, height px, font Pango font, title text

appsrc name=video max-buffers=${queue:-3} max-bytes=0 leaky-type=downstream caps="video/x-raw"
! videoflip name=upright video-direction=auto
! videoflip name=mirror video-direction=identity
! aspectratiocrop name=crop
! videoconvertscale add-borders=true n-threads=1
! capsfilter name=size caps=video/x-raw,width=${width:-960},height=${height:-540},pixel-aspect-ratio=1/1
! textoverlay name=debug silent=true font-desc=${font:-Sans 14} auto-resize=false
  halignment=left valignment=top xpad=8 ypad=8 shaded-background=true
! taginject tags=title=${title:-mediabridge}
! ximagesink name=window sync=false async=false qos=false

"""###,
    "process/blur": ###"""
# Blurs whole frames: shapes and colours are seen, while no text can be read and no face be made out.
#
# frames         Frames in, one at a time.
# videoflip      Turns frames upright, as the sender says (tag image-orientation).
# detail         As much is left as a frame shows that is `detail` wide: 20 is a stronger blur than 60. Each pixel counts for
#                it (bilinear2), so that fine stripes do not shine through.
# size           As large as what has come in: Swift sets `width` and `height`.
# processed      Frames out.
#
# Units: detail px

appsrc name=frames caps="video/x-raw"
! videoflip video-direction=auto
! videoconvertscale method=bilinear2 n-threads=1
! video/x-raw,format=I420,width=${detail:-40},pixel-aspect-ratio=1/1
! videoconvertscale method=spline n-threads=1
! capsfilter name=size caps=video/x-raw,format=I420,width=320,height=180,pixel-aspect-ratio=1/1
! appsink name=processed sync=false async=false

"""###,
    "process/crop": ###"""
# Cuts the edges off frames, which become smaller.
#
# frames         Frames in, one at a time.
# videoflip      Turns frames upright, as the sender says (tag image-orientation).
# videocrop      Takes that much from each side. From a frame that has less it can take nothing, and fails.
# processed      Frames out.
#
# Units: left px, right px, top px, bottom px

appsrc name=frames caps="video/x-raw"
! videoflip video-direction=auto
! videocrop left=${left:-0} right=${right:-0} top=${top:-0} bottom=${bottom:-0}
! appsink name=processed sync=false async=false

"""###,
    "process/faces-blurred": ###"""
# Blurs faces that are found in frames. It finds those that look into the camera, and not all of them: blur hides all.
#
# frames         Frames in, one at a time.
# videoflip      Turns frames upright, as the sender says (tag image-orientation).
# faceblur       Of the Debian package gstreamer1.0-opencv. Finds faces of `min-face` and more; smaller ones take longer:
#                a frame of 1280x720 takes some 40 ms, and frames that come meanwhile are dropped.
# filesrc        What faces look like, of the Debian package opencv-data. Without that file faceblur would leave all frames
#                as they are; so it is opened here as well, where its absence is an error.
# processed      Frames out.
#
# Units: min-face px

appsrc name=frames caps="video/x-raw"
! videoflip video-direction=auto
! videoconvert n-threads=1
! faceblur min-size-width=${min-face:-40} min-size-height=${min-face}
  profile=/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml
! videoconvert n-threads=1
! video/x-raw,format=I420
! appsink name=processed sync=false async=false
filesrc location=/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml num-buffers=1
! fakesink sync=false async=false

"""###,
    "process/logo": ###"""
# Lays an image over frames.
#
# frames            Frames in, one at a time.
# videoflip         Turns frames upright, as the sender says (tag image-orientation).
# gdkpixbufoverlay  The image of the file `location` (PNG with transparency, JPEG), `logo-width` x `logo-height`, 0 for its
#                   own size. It is `x` from the left and `y` from the top; less than 0 is from the right and the bottom.
#                   `opacity` from 0.0 (not seen) to 1.0.
# processed         Frames out.
#
# Units: location path, x px, y px, logo-width px, logo-height px, opacity 0.0 to 1.0

appsrc name=frames caps="video/x-raw"
! videoflip video-direction=auto
! gdkpixbufoverlay location=${location} offset-x=${x:-16} offset-y=${y:-16}
  overlay-width=${logo-width:-0} overlay-height=${logo-height:-0} alpha=${opacity:-1.0}
! appsink name=processed sync=false async=false

"""###,
    "process/placeholder": ###"""
# What a composite shows of who has no camera, or has muted it: initials and name on a colour.
#
# frames         A frame of one colour in, as large as the tile. There is one for each size: the mixer repeats it.
# initials       In `initials-font` as Pango writes it; its size is for a tile that is 640 wide, and goes with the width.
#                Swift sets `text`.
# label          The participant's name, in `font`, where no name is written over all tiles. Swift sets `text`.
# processed      The frame out.
#
# Units: initials-font Pango font, font Pango font

appsrc name=frames caps="video/x-raw"
! textoverlay name=initials font-desc=${initials-font:-Sans Bold 64} draw-shadow=false draw-outline=false
  halignment=center valignment=center
! textoverlay name=label silent=true font-desc=${font:-Sans 12} auto-resize=false draw-shadow=false draw-outline=false
  halignment=center valignment=bottom ypad=12
! appsink name=processed sync=false

"""###,
    "process/text": ###"""
# Writes a text over frames.
#
# frames         Frames in, one at a time.
# videoflip      Turns frames upright, as the sender says (tag image-orientation).
# label          `text` in `font` as Pango writes it; its size is for a frame that is 640 wide, and goes with the width. It
#                stands `halign` (left, center, right) and `valign` (top, center, bottom). Swift has it shown as it is, so
#                that & and < are no mark-up.
# processed      Frames out.
#
# Units: text word, font Pango font, halign word, valign word

appsrc name=frames caps="video/x-raw"
! videoflip video-direction=auto
! textoverlay name=label text=${text:-Live} font-desc=${font:-Sans 20} halignment=${halign:-left} valignment=${valign:-top}
  shaded-background=true
! appsink name=processed sync=false async=false

"""###,
    "receive/av1": ###"""
# AV1 video: frames as they were sent, and decoded (I420).
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    GStreamer 1.22 of Debian has no such element: the program brings its own. After a loss it asks for a keyframe,
#          and shows nothing until one comes.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Temporal units out.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=AV1"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtpav1depay
! tee name=media allow-not-linked=true

media. ! av1parse ! video/x-av1,stream-format=obu-stream,alignment=tu
! appsink name=encoded sync=false async=false

media. ! av1dec
! appsink name=frames sync=false async=false

"""###,
    "receive/h264-nvdec": ###"""
# H.264 video: frames as they were sent, and decoded by an NVIDIA GPU (NVDEC).
#
# A track is received by the template that is called as its codec: `mediabridge pipelines new receive/h264 --from
# receive/h264-nvdec` has this one do it.
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out. The parser puts the parameter sets in front of every keyframe too, so that a change of
#          size decodes.
# decoder  nvh264dec is there only where the hardware and its driver are. Its properties are those of its documentation; it
#          was not run where this was written, for want of hardware. What comes out lies in ordinary memory.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=H264"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtph264depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! h264parse config-interval=-1 ! video/x-h264,stream-format=avc,alignment=au
! appsink name=encoded sync=false async=false

media. ! h264parse ! nvh264dec ! video/x-raw,format={NV12,I420}
! appsink name=frames sync=false async=false

"""###,
    "receive/h264-v4l2": ###"""
# H.264 video: frames as they were sent, and decoded by a codec of the kernel (V4L2).
#
# A track is received by the template that is called as its codec: `mediabridge pipelines new receive/h264 --from
# receive/h264-v4l2` has this one do it.
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out. The parser puts the parameter sets in front of every keyframe too, so that a change of
#          size decodes.
# decoder  v4l2h264dec is there only where the hardware and its driver are. Its properties are those of its documentation; it
#          was not run where this was written, for want of hardware. What comes out lies in ordinary memory.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=H264"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtph264depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! h264parse config-interval=-1 ! video/x-h264,stream-format=avc,alignment=au
! appsink name=encoded sync=false async=false

media. ! h264parse ! v4l2h264dec ! video/x-raw,format={NV12,I420}
! appsink name=frames sync=false async=false

"""###,
    "receive/h264-vaapi": ###"""
# H.264 video: frames as they were sent, and decoded by a GPU through VA-API (Intel, AMD).
#
# A track is received by the template that is called as its codec: `mediabridge pipelines new receive/h264 --from
# receive/h264-vaapi` has this one do it.
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out. The parser puts the parameter sets in front of every keyframe too, so that a change of
#          size decodes.
# decoder  vah264dec is there only where the hardware and its driver are. Its properties are those of its documentation; it
#          was not run where this was written, for want of hardware. What comes out lies in ordinary memory.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=H264"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtph264depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! h264parse config-interval=-1 ! video/x-h264,stream-format=avc,alignment=au
! appsink name=encoded sync=false async=false

media. ! h264parse ! vah264dec ! video/x-raw,format={NV12,I420}
! appsink name=frames sync=false async=false

"""###,
    "receive/h264": ###"""
# H.264 video: frames as they were sent, and decoded (I420).
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out. The parser puts the parameter sets in front of every keyframe too, so that a change of
#          size decodes.
# decoder  `threads` is 1 because waking several threads for each frame costs more than they save at usual sizes;
#          more of them help with frames beyond 1080p.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false, threads threads

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=H264"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtph264depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! h264parse config-interval=-1 ! video/x-h264,stream-format=avc,alignment=au
! appsink name=encoded sync=false async=false

media. ! avdec_h264 max-threads=${threads:-1} thread-type=slice output-corrupt=false
! appsink name=frames sync=false async=false

"""###,
    "receive/opus": ###"""
# Opus audio: packets as they were sent, and raw samples (48 kHz, stereo, 16 bit, interleaved).
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads, and waits for no more than 100 ms while somebody
#          hears or mixes it; with any other setting, such as drop-on-latency=true, the element does it.
# depay    Is told what it asks for: any payload type, and stereo at 48 kHz, which every Opus decoder can make of it.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Opus packets out.
# decoder  As it stands here it decodes where packets come, which costs less than waking a thread; with other elements
#          between it and `pcm` the branch has a thread of its own. Losses are filled in: from the redundancy in the next
#          packet where the sender puts it there, for which each packet waits for the next (fec=false does not), else by
#          guessing on.
# pcm      Audio out.
#
# Units: latency ms, fec true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! capssetter caps="application/x-rtp,payload=96,sprop-stereo=(string)1,sprop-maxcapturerate=(string)48000"
! rtpopusdepay
! tee name=media allow-not-linked=true

media. ! appsink name=encoded sync=false async=false

media. ! opusdec plc=true use-inband-fec=${fec:-true}
! audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=2
! appsink name=pcm sync=false async=false

"""###,
    "receive/vp8-nvdec": ###"""
# VP8 video: frames as they were sent, and decoded by an NVIDIA GPU (NVDEC).
#
# A track is received by the template that is called as its codec: `mediabridge pipelines new receive/vp8 --from
# receive/vp8-nvdec` has this one do it.
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out.
# decoder  nvvp8dec is there only where the hardware and its driver are. Its properties are those of its documentation; it
#          was not run where this was written, for want of hardware. What comes out lies in ordinary memory.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtpvp8depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! appsink name=encoded sync=false async=false

media. ! nvvp8dec ! video/x-raw,format={NV12,I420}
! appsink name=frames sync=false async=false

"""###,
    "receive/vp8-v4l2": ###"""
# VP8 video: frames as they were sent, and decoded by a codec of the kernel (V4L2).
#
# A track is received by the template that is called as its codec: `mediabridge pipelines new receive/vp8 --from
# receive/vp8-v4l2` has this one do it.
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out.
# decoder  v4l2vp8dec is there only where the hardware and its driver are. Its properties are those of its documentation; it
#          was not run where this was written, for want of hardware. What comes out lies in ordinary memory.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtpvp8depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! appsink name=encoded sync=false async=false

media. ! v4l2vp8dec ! video/x-raw,format={NV12,I420}
! appsink name=frames sync=false async=false

"""###,
    "receive/vp8-vaapi": ###"""
# VP8 video: frames as they were sent, and decoded by a GPU through VA-API (Intel, AMD).
#
# A track is received by the template that is called as its codec: `mediabridge pipelines new receive/vp8 --from
# receive/vp8-vaapi` has this one do it.
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out.
# decoder  vavp8dec is there only where the hardware and its driver are. Its properties are those of its documentation; it
#          was not run where this was written, for want of hardware. What comes out lies in ordinary memory.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtpvp8depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! appsink name=encoded sync=false async=false

media. ! vavp8dec ! video/x-raw,format={NV12,I420}
! appsink name=frames sync=false async=false

"""###,
    "receive/vp8": ###"""
# VP8 video: frames as they were sent, and decoded (I420).
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out.
# decoder  `threads` is 1 because waking several threads for each frame costs more than they save at usual sizes;
#          more of them help with frames beyond 1080p. vp8dec decodes as well, and costs a tenth more.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false, threads threads

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtpvp8depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! appsink name=encoded sync=false async=false

media. ! avdec_vp8 max-threads=${threads:-1} thread-type=slice output-corrupt=false
! appsink name=frames sync=false async=false

"""###,
    "receive/vp9-nvdec": ###"""
# VP9 video: frames as they were sent, and decoded by an NVIDIA GPU (NVDEC).
#
# A track is received by the template that is called as its codec: `mediabridge pipelines new receive/vp9 --from
# receive/vp9-nvdec` has this one do it.
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out.
# decoder  nvvp9dec is there only where the hardware and its driver are. Its properties are those of its documentation; it
#          was not run where this was written, for want of hardware. What comes out lies in ordinary memory.
#          It gets no frames in several spatial layers, as browsers send them (`L3T3_KEY`): they come without an index,
#          by which alone vp9parse would part them. As it has no vp9dec, the receive/vp9 inside the program takes over
#          for such a track, and the log says so.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP9"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtpvp9depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! vp9parse ! video/x-vp9,alignment=super-frame
! appsink name=encoded sync=false async=false

media. ! vp9parse ! nvvp9dec ! video/x-raw,format={NV12,I420}
! appsink name=frames sync=false async=false

"""###,
    "receive/vp9-v4l2": ###"""
# VP9 video: frames as they were sent, and decoded by a codec of the kernel (V4L2).
#
# A track is received by the template that is called as its codec: `mediabridge pipelines new receive/vp9 --from
# receive/vp9-v4l2` has this one do it.
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out.
# decoder  v4l2vp9dec is there only where the hardware and its driver are. Its properties are those of its documentation; it
#          was not run where this was written, for want of hardware. What comes out lies in ordinary memory.
#          It gets no frames in several spatial layers, as browsers send them (`L3T3_KEY`): they come without an index,
#          by which alone vp9parse would part them. As it has no vp9dec, the receive/vp9 inside the program takes over
#          for such a track, and the log says so.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP9"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtpvp9depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! vp9parse ! video/x-vp9,alignment=super-frame
! appsink name=encoded sync=false async=false

media. ! vp9parse ! v4l2vp9dec ! video/x-raw,format={NV12,I420}
! appsink name=frames sync=false async=false

"""###,
    "receive/vp9-vaapi": ###"""
# VP9 video: frames as they were sent, and decoded by a GPU through VA-API (Intel, AMD).
#
# A track is received by the template that is called as its codec: `mediabridge pipelines new receive/vp9 --from
# receive/vp9-vaapi` has this one do it.
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out.
# decoder  vavp9dec is there only where the hardware and its driver are. Its properties are those of its documentation; it
#          was not run where this was written, for want of hardware. What comes out lies in ordinary memory.
#          It gets no frames in several spatial layers, as browsers send them (`L3T3_KEY`): they come without an index,
#          by which alone vp9parse would part them. As it has no vp9dec, the receive/vp9 inside the program takes over
#          for such a track, and the log says so.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP9"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtpvp9depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! vp9parse ! video/x-vp9,alignment=super-frame
! appsink name=encoded sync=false async=false

media. ! vp9parse ! vavp9dec ! video/x-raw,format={NV12,I420}
! appsink name=frames sync=false async=false

"""###,
    "receive/vp9": ###"""
# VP9 video: frames as they were sent, and decoded (I420).
#
# rtp      RTP packets in. They are put straight into what follows, without a thread and a queue between.
# jitter   Packets that come in order pass at once. Only when one is missing those behind it wait, for as long as
#          retransmissions take, which is measured, and for `latency` ms at most. As it stands here the program does
#          that by itself, which costs less than the element's threads; with any other setting, such as
#          drop-on-latency=true, the element does it.
# depay    After a loss it asks for a keyframe; with `wait-for-keyframe` true it shows nothing until one comes, with
#          false it goes on with a damaged frame.
# media    What hangs on it is made when the first consumer comes and goes with the last one, so that nobody pays for
#          what nobody wants.
# encoded  Access units out.
# decoder  `threads` is 1 because waking several threads for each frame costs more than they save at usual sizes;
#          more of them help with frames beyond 1080p.
# frames   Frames out, in the format of the decoder.
#
# Units: latency ms, wait-for-keyframe true or false, threads threads

appsrc name=rtp max-bytes=0
  caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP9"
! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
! rtpvp9depay request-keyframe=true wait-for-keyframe=${wait-for-keyframe:-true}
! tee name=media allow-not-linked=true

media. ! vp9parse ! video/x-vp9,alignment=super-frame
! appsink name=encoded sync=false async=false

media. ! vp9dec threads=${threads:-1}
! appsink name=frames sync=false async=false

"""###,
    "send/av1": ###"""
# AV1 as RTP (the specification of the Alliance for Open Media).
#
# encoded    Temporal units in, as an encode template makes them.
# payloader  Packets of at most `mtu` bytes, header included; the program adds some bytes, and the way some more. GStreamer
#            1.22 of Debian has no such element: the program brings its own.
# rtp        Packets out. Their source, payload type and number are the program's.
#
# Units: mtu bytes

appsrc name=encoded max-buffers=100 max-bytes=0 caps="video/x-av1"
! av1parse
! rtpav1pay mtu=${mtu:-1180}
! appsink name=rtp sync=false async=false

"""###,
    "send/h264": ###"""
# H.264 as RTP (RFC 6184).
#
# encoded    Access units in, as an encode template makes them.
# parser     Puts the parameter sets in front of every keyframe, so that a viewer can begin at each, and there alone: a
#            server takes them for its beginning, and the payloader would put them in front of each of its slices.
# payloader  Packets of at most `mtu` bytes, header included; the program adds some bytes, and the way some more.
# rtp        Packets out. Their source, payload type and number are the program's.
#
# Units: mtu bytes

appsrc name=encoded max-buffers=100 max-bytes=0 caps="video/x-h264"
! h264parse config-interval=-1
! rtph264pay mtu=${mtu:-1180} config-interval=0 aggregate-mode=zero-latency
! appsink name=rtp sync=false async=false

"""###,
    "send/opus": ###"""
# Opus as RTP (RFC 7587).
#
# encoded    Packets in, as an encode template makes them.
# payloader  Packets of at most `mtu` bytes, header included. What an encoder makes of silence with DTX is not sent.
# rtp        Packets out. Their source, payload type and number are the program's.
#
# Units: mtu bytes

appsrc name=encoded max-buffers=100 max-bytes=0 caps="audio/x-opus"
! rtpopuspay mtu=${mtu:-1180} dtx=true
! appsink name=rtp sync=false async=false

"""###,
    "send/vp8": ###"""
# VP8 as RTP (RFC 7741).
#
# encoded    Frames in, as an encode template makes them.
# payloader  Packets of at most `mtu` bytes, header included; the program adds some bytes, and the way some more.
# rtp        Packets out. Their source, payload type and number are the program's.
#
# Units: mtu bytes

appsrc name=encoded max-buffers=100 max-bytes=0 caps="video/x-vp8"
! rtpvp8pay mtu=${mtu:-1180} picture-id-mode=15-bit
! appsink name=rtp sync=false async=false

"""###,
    "send/vp9": ###"""
# VP9 as RTP (RFC 9628).
#
# encoded    Frames in, as an encode template makes them.
# payloader  Packets of at most `mtu` bytes, header included; the program adds some bytes, and the way some more.
# rtp        Packets out. Their source, payload type and number are the program's.
#
# Units: mtu bytes

appsrc name=encoded max-buffers=100 max-bytes=0 caps="video/x-vp9"
! rtpvp9pay mtu=${mtu:-1180} picture-id-mode=15-bit
! appsink name=rtp sync=false async=false

"""###,
    "tile/audio": ###"""
# One input of the template mix/audio: what becomes of a track's audio before it is mixed.
#
# audio          PCM in; at most `tile-queue` buffers wait, and the oldest are dropped.
#                The latencies (ns) let the mixer wait a moment; without them it would not be told how long.
# convert        Brings it into the mixer's format.
# channels       Has it heard left or right alone, where that is asked for: Swift sets `mix-matrix`.
#
# The end is left open: Swift links it to the mixer.
#
# Units: tile-queue buffers

appsrc name=audio max-buffers=${tile-queue:-100} max-bytes=0 leaky-type=downstream
  min-latency=0 max-latency=1000000000 caps="audio/x-raw"
! audioconvert ! audioresample
! capsfilter caps=audio/x-raw,format=F32LE,layout=interleaved,rate=48000,channels=2
! audioconvert name=channels

"""###,
    "tile/video": ###"""
# One tile of the template mix/video: what becomes of a track's frames before they are laid into the mixed frame.
#
# video          Frames in, of any size; at most `tile-queue` wait, of `tile-queue-bytes` together, and the oldest are
#                dropped. Where the template mix/video waits longer than 300 ms, there is more room unless it is set.
#                The latencies (ns) let the mixer wait a moment; without them it would not be told how long.
# videoflip      Turns frames upright, as the sender says (tag image-orientation).
# crop           Cuts frames to the tile's shape where they are to cover it: Swift sets `aspect-ratio`, 0/1 for none.
# scaling        Brings frames to the tile's size, once for each frame that comes, and not for each that is mixed.
# size           The tile's size, or the largest that frames may have where all of them is to be seen: Swift sets `width`
#                and `height` in these caps. The mixer puts them into the middle, with its background beside them.
# label          The participant's name, where names are asked for, in `font` as Pango writes it. Swift sets `text`, with
#                a mark behind the name where the microphone is muted.
# caption        A label of this participant's, above, in `tile-label-font`, whose size is for a tile that is 640 wide, and
#                goes with the width. Swift sets `text` and `silent`.
#
# The end is left open: Swift links it to the mixer.
#
# Units: tile-queue buffers, tile-queue-bytes bytes, font Pango font, tile-label-font Pango font

appsrc name=video max-buffers=${tile-queue:-30} max-bytes=${tile-queue-bytes:-200000000} leaky-type=downstream
  min-latency=0 max-latency=1000000000 caps="video/x-raw"
! videoflip video-direction=auto
! aspectratiocrop name=crop
! videoconvertscale add-borders=false n-threads=1
! capsfilter name=size caps=video/x-raw,format=I420,width=320,height=180,pixel-aspect-ratio=1/1,colorimetry=bt601
! textoverlay name=label silent=true font-desc=${font:-Sans 12} auto-resize=false
  halignment=left valignment=bottom xpad=8 ypad=8 shaded-background=true
! textoverlay name=caption silent=true font-desc=${tile-label-font:-Sans 24}
  halignment=center valignment=top ypad=12 shaded-background=true

"""###,
    "tile/window-tile": ###"""
# One tile of the template window-grid: what becomes of a track's frames before they are laid into the window.
#
# video          Frames in, of any size; at most `tile-queue` wait, and the oldest are dropped.
#                The latencies (ns) let the mixer wait a moment; without them it would not be told how long.
# videoflip      Turns frames upright, as the sender says (tag image-orientation).
# crop           Cuts frames to the tile's shape when they are to fill it: Swift sets `aspect-ratio`, 0/1 for none.
# scaling        Brings frames to the tile's size, with black bars where the shape differs.
# size           The tile's size; Swift sets it in these caps.
# label          The participant's name, in `font` as Pango writes it. Swift sets `text`.
#
# The end is left open: Swift links it to the mixer.
#
# Units: tile-queue buffers, font Pango font

appsrc name=video max-buffers=${tile-queue:-3} max-bytes=0 leaky-type=downstream
  min-latency=0 max-latency=1000000000 caps="video/x-raw"
! videoflip video-direction=auto
! aspectratiocrop name=crop
! videoconvertscale add-borders=true n-threads=1
! capsfilter name=size caps=video/x-raw,width=320,height=180,pixel-aspect-ratio=1/1
! textoverlay name=label font-desc=${font:-Sans 12} auto-resize=false
  halignment=left valignment=bottom xpad=8 ypad=8 shaded-background=true

"""###,
  ]
}
