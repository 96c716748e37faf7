#include "CSegmentation.h"

#include <algorithm>
#include <cstdio>
#include <opencv2/dnn.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>

struct segmentation {
  cv::dnn::Net net;
  segmentation_input input;
};

namespace {

/// The planes Y, U and V of a frame, as views of its memory.
struct Planes {
  cv::Mat plane[3];

  Planes(uint8_t *frame, int width, int height) {
    const auto stride = [](int samples) { return static_cast<size_t>((samples + 3) / 4 * 4); };
    const int columns = (width + 1) / 2, rows = (height + 1) / 2;
    uint8_t *blue = frame + stride(width) * rows * 2;
    plane[0] = cv::Mat(height, width, CV_8U, frame, stride(width));
    plane[1] = cv::Mat(rows, columns, CV_8U, blue, stride(columns));
    plane[2] = cv::Mat(rows, columns, CV_8U, blue + stride(columns) * rows, stride(columns));
  }
};

/// What the network takes of a frame of limited range (BT.601).
cv::Mat blob(const Planes &planes, const segmentation_input &input) {
  const cv::Size size(input.width, input.height);
  cv::Mat small[3], joined, rgb;
  // OpenCV has V in front of U.
  const int order[3] = {0, 2, 1};
  for (int index = 0; index < 3; index++) {
    cv::resize(planes.plane[order[index]], small[index], size, 0, 0, cv::INTER_AREA);
    const double zero = index == 0 ? 16 : 128, factor = 255.0 / (index == 0 ? 219 : 224);
    small[index].convertTo(small[index], CV_8U, factor, (index == 0 ? 0 : 128) - zero * factor);
  }
  cv::merge(small, 3, joined);
  cv::cvtColor(joined, rgb, cv::COLOR_YCrCb2RGB);
  return cv::dnn::blobFromImage(rgb, input.scale, size, cv::Scalar::all(input.mean));
}

/// How far each place is of a person, 0…1, of what the network says: one channel of it, or two of which the second is
/// larger where a person is.
cv::Mat mask(const cv::Mat &said) {
  const bool is_flat = said.dims == 3;
  const bool is_last = said.dims == 4 && said.size[1] > 2 && said.size[3] <= 2;
  if ((said.dims != 4 && !is_flat) || said.size[0] != 1 || said.type() != CV_32F)
    throw std::runtime_error("the model does not say where people are: its output is no image");
  const int channels = is_flat ? 1 : said.size[is_last ? 3 : 1];
  if (channels != 1 && channels != 2)
    throw std::runtime_error("the model does not tell people from the rest: its output has more than two channels");
  const int rows = said.size[is_flat || is_last ? 1 : 2], columns = said.size[is_flat || is_last ? 2 : 3];
  float *values = const_cast<float *>(said.ptr<float>());
  cv::Mat result;
  if (channels == 1) {
    result = cv::Mat(rows, columns, CV_32F, values).clone();
    // What is no number is no person.
    cv::patchNaNs(result, 0);
    return cv::min(cv::max(result, 0), 1);
  }
  cv::Mat channel[2];
  if (is_last) {
    cv::split(cv::Mat(rows, columns, CV_32FC2, values), channel);
  } else {
    for (int index = 0; index < 2; index++)
      channel[index] = cv::Mat(rows, columns, CV_32F, values + static_cast<size_t>(index) * rows * columns);
  }
  cv::Mat(channel[1] > channel[0]).convertTo(result, CV_32F, 1.0 / 255);
  cv::GaussianBlur(result, result, cv::Size(3, 3), 0);
  return result;
}

void blur(cv::Mat &plane, const cv::Mat &person, int detail) {
  const int columns = std::max(1, std::min(detail, plane.cols));
  const cv::Size size(columns, std::max(1, plane.rows * columns / plane.cols));
  cv::Mat small, blurred, weight;
  cv::resize(plane, small, size, 0, 0, cv::INTER_AREA);
  cv::GaussianBlur(small, small, cv::Size(3, 3), 0);
  cv::resize(small, blurred, plane.size(), 0, 0, cv::INTER_CUBIC);
  cv::resize(person, weight, plane.size(), 0, 0, cv::INTER_LINEAR);
  cv::Mat rest = 1 - weight, result;
  cv::blendLinear(plane, blurred, weight, rest, result);
  result.copyTo(plane);
}

/// No exception leaves for Swift, which knows none.
template <typename Body> bool attempt(Body body, char *reason, size_t size) {
  try {
    body();
    return true;
  } catch (const cv::Exception &error) {
    snprintf(reason, size, "%s", error.err.c_str());
  } catch (const std::exception &error) {
    snprintf(reason, size, "%s", error.what());
  } catch (...) {
    snprintf(reason, size, "OpenCV failed");
  }
  return false;
}

} // namespace

segmentation *segmentation_new(const char *model, segmentation_input input, char *reason, size_t size) {
  segmentation *made = nullptr;
  attempt([&] { made = new segmentation{cv::dnn::readNetFromONNX(model), input}; }, reason, size);
  return made;
}

int segmentation_blur(
    segmentation *network, uint8_t *frame, int width, int height, int detail, char *reason, size_t size) {
  const bool is_done = attempt(
      [&] {
        Planes planes(frame, width, height);
        network->net.setInput(blob(planes, network->input));
        const cv::Mat person = mask(network->net.forward());
        for (cv::Mat &plane : planes.plane) blur(plane, person, detail);
      },
      reason, size);
  return is_done ? 0 : -1;
}

void segmentation_free(segmentation *network) { delete network; }
